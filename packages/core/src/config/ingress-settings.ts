// Where apps are reached from the internet: the domain of their hosts, and how the Ingress of this machine listens.
import { accessSync, constants } from 'node:fs';
import * as path from 'node:path';
import type { CoreConfig } from './config.ts';
import { reasonOf } from './start-error.ts';
import { type AddressAndPort, addressAndPortOf, integerOf, optionalPathOf, type Read, wrong } from './variables.ts';

/** Where an Ingress has its certificates; `null`: it speaks plain HTTP. */
export type IngressTls = { readonly kind: 'files'; readonly folder: string } | AcmeSettings | null;

export interface AcmeSettings {
  readonly kind: 'acme';
  /** URL of the directory. */
  readonly directory: string;
  /** Empty for none. */
  readonly email: string;
  /** Executable for DNS-01; `null`: HTTP-01. */
  readonly dnsHook: string | null;
}

export interface IngressSettings extends Pick<CoreConfig, 'ingressOrigin'> {
  /** The port of https as clients reach the Ingress of this machine; `null`: the one that it listens on. */
  readonly ingressPublicPort: number | null;
  /** Where the Ingress of this machine answers; `null`: it has none. */
  readonly ingressListen: AddressAndPort | null;
  readonly ingressTls: IngressTls;
  /** Where nodes behind NAT connect to it over UDP; `null` for nowhere. */
  readonly ingressLink: AddressAndPort | null;
  /** Where an Ingress with certificates answers plain HTTP as well; `null`: nowhere. */
  readonly ingressHttpListen: AddressAndPort | null;
}

const LISTEN = 'PLATFORM_INGRESS_LISTEN';
const PUBLIC_PORT = 'PLATFORM_INGRESS_PUBLIC_PORT';
const TLS = 'PLATFORM_INGRESS_TLS';
const LINK = 'PLATFORM_INGRESS_LINK';
const HTTP_LISTEN = 'PLATFORM_INGRESS_HTTP_LISTEN';
const DIRECTORY = 'PLATFORM_ACME_DIRECTORY';
const EMAIL = 'PLATFORM_ACME_EMAIL';
const DNS_HOOK = 'PLATFORM_ACME_DNS_HOOK';
const USUAL: AddressAndPort = { host: '127.0.0.1', port: 8791 };

/** @param switchedOff PLATFORM_INGRESS_LISTEN is set, and empty */
export function readIngressSettings(
  read: Read,
  { ingressDomain, switchedOff }: { readonly ingressDomain: string; readonly switchedOff: boolean },
): IngressSettings {
  const ingressListen = switchedOff ? null : (addressAndPortOf(read, LISTEN) ?? USUAL);
  const ingressTls = readTls(read);
  const ingressHttpListen = addressAndPortOf(read, HTTP_LISTEN);
  const ingressPublicPort = read(PUBLIC_PORT) === undefined ? null : integerOf(read, PUBLIC_PORT, 1, 65_535);
  requireAgreement(read, ingressTls, ingressHttpListen);
  return {
    ingressListen,
    ingressTls,
    ingressHttpListen,
    ingressLink: readLink(read),
    ingressPublicPort,
    ingressOrigin: originOf(ingressDomain, { listen: ingressListen, tls: ingressTls, publicPort: ingressPublicPort }),
  };
}

function readLink(read: Read): AddressAndPort | null {
  const link = addressAndPortOf(read, LINK);
  if (link === null) return null;
  if (link.host === '0.0.0.0' || link.host === '::')
    throw wrong(LINK, 'is every address', 'set the one address at which nodes reach this machine');
  if (read('PLATFORM_LINK_CARRIER') !== 'iroh')
    throw wrong(LINK, 'is set and nothing uses it', 'set PLATFORM_LINK_CARRIER=iroh, or leave it out');
  return link;
}

function readTls(read: Read): IngressTls {
  const value = read(TLS);
  if (value === undefined) return null;
  if (value === 'acme') return readAcme(read);
  const folder = value.startsWith('files:') ? value.slice('files:'.length) : '';
  if (!path.isAbsolute(folder))
    throw wrong(TLS, `is "${value}"`, 'set it to acme, to files:/absolute/folder, or leave it empty for plain HTTP');
  return { kind: 'files', folder: path.normalize(folder) };
}

function readAcme(read: Read): AcmeSettings {
  const directory = read(DIRECTORY);
  if (directory === undefined)
    throw wrong(TLS, `is acme, and ${DIRECTORY} is not set`, 'set that to the directory of a certificate authority');
  if (!URL.canParse(directory) || new URL(directory).protocol !== 'https:')
    throw wrong(DIRECTORY, `is "${directory}"`, 'set an https URL');
  const email = read(EMAIL) ?? '';
  if (email !== '' && !/^[^\s@]+@[^\s@]+$/.test(email)) throw wrong(EMAIL, `is "${email}"`, 'set a mail address');
  return { kind: 'acme', directory, email, dnsHook: readHook(optionalPathOf(read, DNS_HOOK)) };
}

function readHook(file: string | null): string | null {
  if (file === null) return null;
  try {
    accessSync(file, constants.X_OK);
    return file;
  } catch (error) {
    throw wrong(DNS_HOOK, `names ${file}, which cannot be run: ${reasonOf(error)}`, 'name an executable file');
  }
}

/** What contradicts itself, or would be without effect. */
function requireAgreement(read: Read, tls: IngressTls, plain: AddressAndPort | null): void {
  if (tls?.kind === 'acme') {
    if (tls.dnsHook === null && plain === null)
      throw wrong(
        TLS,
        'is acme, but the certificate authority could not check any name',
        `set ${HTTP_LISTEN} to port 80 of a public address, such as 0.0.0.0:80, or ${DNS_HOOK}`,
      );
    return;
  }
  for (const name of [DIRECTORY, EMAIL, DNS_HOOK] as const)
    if (read(name) !== undefined) throw wrong(name, `is set without ${TLS}=acme`, 'set both or neither');
  if (tls === null && plain !== null)
    throw wrong(HTTP_LISTEN, `is set without ${TLS}`, `plain HTTP is answered on ${LISTEN} then; leave it empty`);
}

/**
 * What people see: plain HTTP only on a laptop, where the Ingress itself answers. Without certificates of its own there is
 * a proxy before it, on the usual port of https.
 */
function originOf(domain: string, { listen, tls, publicPort }: Way): CoreConfig['ingressOrigin'] {
  const behindProxy = tls === null && !isLocal(domain);
  const scheme = tls === null && !behindProxy ? 'http' : 'https';
  const usual = scheme === 'http' ? 80 : 443;
  const port = publicPort ?? (behindProxy ? usual : (listen?.port ?? usual));
  return { scheme, port: port === usual ? '' : `:${port}` };
}

interface Way {
  readonly listen: AddressAndPort | null;
  readonly tls: IngressTls;
  readonly publicPort: number | null;
}

function isLocal(domain: string): boolean {
  return domain === 'localhost' || domain.endsWith('.localhost');
}
