// Where browsers find the platform, and what its sessions and passkeys are bound to.
import { isIP } from 'node:net';
import { type ConfigurationVariable, configurationVariables } from '@platform/contract';
import { getDomain } from 'tldts';
import type { CoreConfig } from './config.ts';
import { foreignOriginReason } from './node-origin.ts';
import { integerOf, listed, patternOf, type Read, textOf, wrong } from './variables.ts';

export interface WebSettings
  extends Pick<
    CoreConfig,
    | 'origin'
    | 'rpId'
    | 'rpName'
    | 'prfLegacySalt'
    | 'sessionMilliseconds'
    | 'challengeMilliseconds'
    | 'sessionCookie'
    | 'appsDomain'
    | 'ingressDomain'
    | 'nodeOrigin'
    | 'listenHost'
    | 'listenPort'
    | 'trustedProxies'
  > {
  /** Port of the node's listener for backends. */
  readonly nodePort: number;
}

export function readWebSettings(read: Read): WebSettings {
  const origin = readOrigin(read, 'PLATFORM_OS_ORIGIN');
  const nodeOrigin = readOrigin(read, 'PLATFORM_NODE_ORIGIN');
  const rpId = readRpId(read('PLATFORM_RP_ID') ?? origin.hostname, origin);
  const { listenPort, nodePort } = readListenPorts(read, origin, nodeOrigin);
  const appsDomain = readAppsDomain(textOf(read, 'PLATFORM_APPS_DOMAIN'), origin, rpId);
  const ingressDomain = readIngressDomain(textOf(read, 'PLATFORM_INGRESS_DOMAIN'), { origin, rpId, appsDomain });
  const own = { config: { origin: origin.origin, rpId, appsDomain, ingressDomain }, linkListen: null };
  const foreign = foreignOriginReason(nodeOrigin.origin, own);
  if (foreign !== null) throw wrong('PLATFORM_NODE_ORIGIN', foreign, 'set a host of its own');
  return {
    origin: origin.origin,
    rpId,
    rpName: textOf(read, 'PLATFORM_RP_NAME'),
    prfLegacySalt: readSalt(read('PLATFORM_PRF_LEGACY_SALT')),
    sessionMilliseconds: integerOf(read, 'PLATFORM_SESSION_TTL_MS', 60_000, 400 * 86_400_000),
    challengeMilliseconds: integerOf(read, 'PLATFORM_CHALLENGE_TTL_MS', 10_000, 3_600_000),
    sessionCookie: patternOf(
      read,
      'PLATFORM_SESSION_COOKIE',
      /^(?!__)[A-Za-z0-9_-]{1,64}$/,
      'letters, digits, - and _ only, and no prefix: on https core adds __Host- itself',
    ),
    appsDomain,
    ingressDomain,
    nodeOrigin: nodeOrigin.origin,
    listenHost: readAddress(textOf(read, 'PLATFORM_LISTEN_HOST')),
    listenPort,
    nodePort,
    trustedProxies: readProxies(read('PLATFORM_TRUSTED_PROXIES') ?? ''),
  };
}

function readOrigin(read: Read, name: ConfigurationVariable): URL {
  const value = textOf(read, name);
  const example = `set it like ${configurationVariables[name].default}`;
  if (!URL.canParse(value)) throw wrong(name, `is "${value}", which is not an origin`, example);
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong(name, 'must begin with http:// or https://', example);
  if (url.username !== '' || url.password !== '') throw wrong(name, 'must not hold a user name or password', example);
  if (url.origin !== value.replace(/\/$/, '').toLowerCase())
    throw wrong(name, `is "${value}", but must be scheme, host and port only`, example);
  if (url.protocol === 'http:' && !isLocal(url.hostname))
    throw wrong(
      name,
      'uses http on a public host, where browsers offer no passkeys',
      'use https, or a host below localhost',
    );
  return url;
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

const LISTEN = 'PLATFORM_LISTEN_PORT';
const NODE_LISTEN = 'PLATFORM_NODE_LISTEN_PORT';

/** A proxy may have the ports of the origins, also one port for both. */
function readListenPorts(read: Read, origin: URL, nodeOrigin: URL): Pick<WebSettings, 'listenPort' | 'nodePort'> {
  const listenPort = read(LISTEN) === undefined ? portOf(origin, 8787) : integerOf(read, LISTEN, 1, 65_535);
  const nodePort = read(NODE_LISTEN) === undefined ? portOf(nodeOrigin, 8788) : integerOf(read, NODE_LISTEN, 1, 65_535);
  if (listenPort !== nodePort) return { listenPort, nodePort };
  if (read(LISTEN) === undefined && read(NODE_LISTEN) === undefined && origin.protocol === 'http:')
    throw wrong('PLATFORM_NODE_ORIGIN', 'has the same port as PLATFORM_OS_ORIGIN', 'give the two different ports');
  throw wrong(
    NODE_LISTEN,
    `is ${nodePort}, the port of the shell as well`,
    `give ${LISTEN} and ${NODE_LISTEN} two different ports`,
  );
}

/** @param behindProxy where the platform listens when a proxy has the usual port of https */
function portOf(url: URL, behindProxy: number): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? behindProxy : 80;
}

function readRpId(rpId: string, origin: URL): string {
  if (isIP(origin.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw wrong('PLATFORM_OS_ORIGIN', 'names an address, which can have no passkeys', 'use a host name');
  if (rpId !== origin.hostname && !origin.hostname.endsWith(`.${rpId}`))
    throw wrong(
      'PLATFORM_RP_ID',
      `is "${rpId}", which is not the host of PLATFORM_OS_ORIGIN or a parent of it`,
      `set it to ${origin.hostname}`,
    );
  return rpId;
}

function readAppsDomain(domain: string, origin: URL, rpId: string): string {
  const name = 'PLATFORM_APPS_DOMAIN';
  checkDomain(name, domain, 'apps.example.org');
  // Descendants of the relying party ID may use its passkeys and their PRF: apps must never be among them.
  if (isBelow(domain, rpId))
    throw wrong(
      name,
      `lies below the relying party ${rpId}, so that every app could use the passkeys`,
      'use a domain that is not below PLATFORM_RP_ID',
    );
  if (isBelow(origin.hostname, domain)) throw wrong(name, 'contains the host of the shell', 'use a domain of its own');
  checkSite(name, domain, origin, 'apps-of-example.net');
  return domain;
}

interface Neighbours {
  readonly origin: URL;
  readonly rpId: string;
  readonly appsDomain: string;
}

function readIngressDomain(domain: string, { origin, rpId, appsDomain }: Neighbours): string {
  const name = 'PLATFORM_INGRESS_DOMAIN';
  checkDomain(name, domain, 'example-public.net');
  if (isBelow(domain, rpId))
    throw wrong(
      name,
      `lies below the relying party ${rpId}, so that every public page of an app could use the passkeys`,
      'use a domain that is not below PLATFORM_RP_ID',
    );
  if (isBelow(domain, origin.hostname) || isBelow(origin.hostname, domain))
    throw wrong(name, 'lies above or below the host of the shell', 'use a domain of its own');
  // A hostname selects exactly one thing: the frontend of an app, or what it answers to the internet.
  if (isBelow(domain, appsDomain) || isBelow(appsDomain, domain))
    throw wrong(name, `lies above or below PLATFORM_APPS_DOMAIN (${appsDomain})`, 'use a domain of its own');
  checkSite(name, domain, origin, 'public-of-example.net');
  return domain;
}

function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function checkDomain(name: ConfigurationVariable, domain: string, example: string): void {
  if (!/^(?=.{1,150}$)[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(domain))
    throw wrong(name, `is "${domain}", which is not a lower-case domain`, `set it like ${example}`);
  if (isIP(domain) !== 0)
    throw wrong(name, `is the address ${domain}, below which there are no hosts`, `set it like ${example}`);
}

function checkSite(name: ConfigurationVariable, domain: string, origin: URL, example: string): void {
  const site = siteOf(origin.hostname);
  // http is for localhost alone, where one site is what lets frames keep their storage.
  if (origin.protocol === 'https:' && siteOf(`app.${domain}`) === site)
    throw wrong(
      name,
      `is "${domain}", which belongs to the same site (${site}) as PLATFORM_OS_ORIGIN, so that every app could set cookies for the shell`,
      `register a second domain for apps and set it like ${example}`,
    );
}

/**
 * The site of a host, as browsers draw it: the registrable domain by the public suffix list, its private part included
 * (below `github.io` everyone is a site of their own). A host that is itself a public suffix is its own site.
 */
function siteOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

function readSalt(value: string | undefined): Buffer | null {
  if (value === undefined) return null;
  const salt = Buffer.from(value, 'base64url');
  if (salt.length !== 32 || salt.toString('base64url') !== value)
    throw wrong('PLATFORM_PRF_LEGACY_SALT', 'is not 32 bytes of base64url', 'copy the salt of the former deployment');
  return salt;
}

function readAddress(value: string): string {
  if (isIP(value) === 0) throw wrong('PLATFORM_LISTEN_HOST', `is "${value}"`, 'set an IP address such as 127.0.0.1');
  return value;
}

function readProxies(value: string): string[] {
  const proxies = listed(value);
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const version = isIP(address);
    if (
      version === 0 ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
    )
      throw wrong('PLATFORM_TRUSTED_PROXIES', `holds "${proxy}"`, 'list addresses or CIDR blocks, separated by commas');
  }
  return proxies;
}
