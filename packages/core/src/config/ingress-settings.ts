// Where apps are reached from the internet: the domain of their hosts, and how the Ingress of this machine listens.
import * as path from 'node:path';
import type { CoreConfig } from './config.ts';
import { type AddressAndPort, addressAndPortOf, type Read, wrong } from './variables.ts';

/** Where an Ingress has its certificates; `null`: it speaks plain HTTP. */
export type IngressTls = { readonly kind: 'files'; readonly folder: string } | { readonly kind: 'acme' } | null;

export interface IngressSettings extends Pick<CoreConfig, 'ingressOrigin'> {
  /** Where the Ingress of this machine answers; `null`: it has none. */
  readonly ingressListen: AddressAndPort | null;
  readonly ingressTls: IngressTls;
  /** Where nodes behind NAT connect to it over UDP; `null` for nowhere. */
  readonly ingressLink: AddressAndPort | null;
}

const LISTEN = 'PLATFORM_INGRESS_LISTEN';
const TLS = 'PLATFORM_INGRESS_TLS';
const LINK = 'PLATFORM_INGRESS_LINK';
const USUAL: AddressAndPort = { host: '127.0.0.1', port: 8791 };

/** @param switchedOff PLATFORM_INGRESS_LISTEN is set, and empty */
export function readIngressSettings(
  read: Read,
  { ingressDomain, switchedOff }: { readonly ingressDomain: string; readonly switchedOff: boolean },
): IngressSettings {
  const ingressListen = switchedOff ? null : (addressAndPortOf(read, LISTEN) ?? USUAL);
  const ingressTls = readTls(read(TLS));
  const ingressLink = readLink(read);
  return { ingressListen, ingressTls, ingressLink, ingressOrigin: originOf(ingressDomain, ingressListen, ingressTls) };
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

function readTls(value: string | undefined): IngressTls {
  if (value === undefined) return null;
  if (value === 'acme') return { kind: 'acme' };
  const folder = value.startsWith('files:') ? value.slice('files:'.length) : '';
  if (!path.isAbsolute(folder))
    throw wrong(TLS, `is "${value}"`, 'set it to acme, to files:/absolute/folder, or leave it empty for plain HTTP');
  return { kind: 'files', folder: path.normalize(folder) };
}

/**
 * What people see: plain HTTP only on a laptop, where the Ingress itself answers. Without certificates of its own there is
 * a proxy before it, on the usual port of https.
 */
function originOf(domain: string, listen: AddressAndPort | null, tls: IngressTls): CoreConfig['ingressOrigin'] {
  if (tls === null && !isLocal(domain)) return { scheme: 'https', port: '' };
  const scheme = tls === null ? 'http' : 'https';
  const usual = scheme === 'http' ? 80 : 443;
  return { scheme, port: listen === null || listen.port === usual ? '' : `:${listen.port}` };
}

function isLocal(domain: string): boolean {
  return domain === 'localhost' || domain.endsWith('.localhost');
}
