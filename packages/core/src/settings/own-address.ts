// Where no AI provider can be: at the platform itself, whose own doors are no model servers, and at addresses that mean no host
// of their own, such as the metadata service of a cloud.
import { BlockList, isIP } from 'node:net';
import type { CoreContext } from '../context.ts';

const NO_HOST = new BlockList();
NO_HOST.addAddress('0.0.0.0');
NO_HOST.addSubnet('169.254.0.0', 16);
NO_HOST.addSubnet('224.0.0.0', 3);
NO_HOST.addAddress('::', 'ipv6');
NO_HOST.addSubnet('fe80::', 10, 'ipv6');
NO_HOST.addSubnet('ff00::', 8, 'ipv6');
/** AWS in IPv6 (fd00:ec2::254) and Alibaba; the others are link-local. */
NO_HOST.addAddress('fd00:ec2::254', 'ipv6');
NO_HOST.addAddress('100.100.100.200');
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

const USUAL_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

type Own = Pick<CoreContext, 'config' | 'linkListen'>;

/** Why calls cannot go there; `null` when nothing is against it. */
export function whyNoProvider(own: Own, baseUrl: string): string | null {
  const url = new URL(baseUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (holds(NO_HOST, host)) return 'is the address of no server';
  const isOwnName = ownDomains(own).some((domain) => host === domain || host.endsWith(`.${domain}`));
  const isHere = host === 'localhost' || host.endsWith('.localhost') || holds(LOOPBACK, host);
  const port = url.port === '' ? (USUAL_PORTS[url.protocol] ?? '') : url.port;
  if (isOwnName || (isHere && ownPorts(own).includes(port))) return 'is the platform itself';
  return null;
}

/** Ports of this machine on which the platform listens. */
export function ownPorts({ config, linkListen }: Own): string[] {
  const { listenPort, nodeOrigin, ingressOrigin, origin } = config;
  const ofUrl = (text: string) => new URL(text).port;
  const ports = [String(listenPort), ofUrl(origin), ofUrl(nodeOrigin), ingressOrigin.port.slice(1)];
  return [...ports, ...(linkListen === null ? [] : [String(linkListen.port)])].filter((port) => port !== '');
}

function ownDomains({ config }: Own): string[] {
  return [
    new URL(config.origin).hostname,
    config.appsDomain,
    config.ingressDomain,
    new URL(config.nodeOrigin).hostname,
  ];
}

function holds(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
