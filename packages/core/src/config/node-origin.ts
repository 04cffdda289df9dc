// Which origins a node may have: none that is the platform's own. Browsers are sent to it with capabilities, and the
// security policies of the apps on the node name it.
import { networkInterfaces } from 'node:os';
import { mayBeElsewhere } from '@platform/http';
import type { Log } from '../context.ts';
import { type CoreConfig, endpointHostname } from './config.ts';
import type { AddressAndPort } from './variables.ts';

/** What of the platform a node must not pose as. */
export interface OwnPlaces {
  readonly config: Pick<CoreConfig, 'origin' | 'rpId' | 'appsDomain' | 'ingressDomain'>;
  /** Where nodes reach core over TLS under its own key; `null` for nowhere. */
  readonly linkListen: AddressAndPort | null;
}

/**
 * Why an address cannot be a node's, as the end of a sentence; `null` when nothing speaks against it. Ports and schemes
 * do not distinguish hosts here: cookies and passkeys do not, either.
 *
 * @param value an http or https URL
 */
export function foreignOriginReason(value: string, { config, linkListen }: OwnPlaces): string | null {
  const url = new URL(value);
  // A dot at the end names the same host.
  const host = url.hostname.replace(/\.+$/, '');
  if (host === new URL(config.origin).hostname) return `names ${host}, the host of the shell`;
  if (isBelow(host, config.rpId)) return `lies below ${config.rpId}, whose passkeys every host below it may use`;
  if (isBelow(host, config.appsDomain)) return `lies below ${config.appsDomain}, where only apps are`;
  if (isBelow(host, config.ingressDomain))
    return `lies below ${config.ingressDomain}, where only public names of apps are`;
  if (linkListen !== null && portOf(url) === linkListen.port && isListenedAt(host, linkListen.host))
    return 'is the address at which core takes nodes';
  return null;
}

/**
 * Why an address cannot be that of a node on another machine, as the end of a sentence; `null` when nothing speaks against
 * it. Names are looked at once more when they are resolved.
 *
 * @param host of `URL.hostname`
 * @param from where it is used: by browsers, or by core and Ingresses
 */
export function notElsewhereReason(host: string, from: 'browsers' | 'parts', places: OwnPlaces): string | null {
  const isHere = from === 'browsers' ? isThisMachine(new URL(places.config.origin).hostname) : isOneMachine(places);
  if (isHere || mayBeElsewhere(host)) return null;
  return 'means another machine wherever it is used: this machine itself, its link, or the metadata of its cloud';
}

/** Whether nodes reach core on its own machine alone, so that all of them are there. */
export function isOneMachine({ config, linkListen }: OwnPlaces): boolean {
  return isThisMachine(linkListen?.host ?? new URL(config.origin).hostname);
}

function isThisMachine(host: string): boolean {
  return /^(\[::1\]|::1|127(\.\d{1,3}){3}|(.*\.)?localhost)$/.test(host);
}

/** What a statement returns of the node of an installation. */
export interface NodeOrigin {
  readonly inbound_origin: string | null;
  /** `null` without a node. */
  readonly node_local: boolean | null;
  /** Of `BEHIND_NAT` (topology/behind-nat.ts). */
  readonly behind_nat: string | null;
}

interface UsedPlaces extends OwnPlaces {
  readonly config: OwnPlaces['config'] & Pick<CoreConfig, 'nodeOrigin' | 'ingressOrigin'>;
  readonly log: Log;
}

/** Where clients reach the backends of a node behind NAT: at the Ingresses. */
export function endpointOrigin(config: Pick<CoreConfig, 'ingressOrigin' | 'ingressDomain'>, nodeId: string): string {
  const { scheme, port } = config.ingressOrigin;
  return `${scheme}://${endpointHostname(config, nodeId)}${port}`;
}

/**
 * Where browsers reach the backend of an installation. Without a node, or before core's own machine has registered,
 * that is where this machine will be.
 *
 * Checked at each use as well, since the configuration may have changed after the report.
 *
 * @returns `null` while its node has no origin that it may have
 */
export function usableOrigin(places: UsedPlaces, node: NodeOrigin): string | null {
  if (node.behind_nat !== null) return endpointOrigin(places.config, node.behind_nat);
  const origin = node.inbound_origin ?? (node.node_local === false ? null : places.config.nodeOrigin);
  if (origin === null) return null;
  const foreign = foreignOriginReason(origin, places);
  const reason =
    foreign ?? (node.node_local === false ? notElsewhereReason(new URL(origin).hostname, 'browsers', places) : null);
  if (reason === null) return origin;
  places.log.warn({ origin, reason }, 'the origin of a node is not used: it is not its own');
  return null;
}

function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** `0.0.0.0` and `::` listen on every address of the machine. */
function isListenedAt(host: string, listened: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (address === listened) return true;
  if (listened !== '0.0.0.0' && listened !== '::') return false;
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some((one) => one.address === address));
}
