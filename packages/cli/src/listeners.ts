// Every address and port on which `platform start` listens on this machine, and the variable that changes each.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';

export interface PlannedListener {
  readonly variable: string;
  readonly host: string;
  readonly port: number;
  /** For people. */
  readonly what: string;
}

export function plannedListeners(config: PlatformConfig): PlannedListener[] {
  const { listenHost: host, ingressListen, ingressHttpListen, linkListen, metricsListen } = config;
  const at = (variable: string, what: string, place: { host: string; port: number } | null) =>
    place === null ? [] : [{ variable, what, host: place.host, port: place.port }];
  return [
    ...at(shellVariable(config), 'the shell, its API and apps', { host, port: config.listenPort }),
    ...(config.localNode ? [nodeListener(config)] : []),
    ...at('PLATFORM_INGRESS_LISTEN', 'apps on the internet', ingressListen),
    ...(ingressListen === null ? [] : at('PLATFORM_INGRESS_HTTP_LISTEN', 'redirects to https', ingressHttpListen)),
    ...at('PLATFORM_LINK_LISTEN', 'nodes on other machines', linkListen),
    ...at('PLATFORM_METRICS_LISTEN', 'Prometheus', metricsListen),
  ];
}

export function nodeListener(config: PlatformConfig): PlannedListener {
  const { listenHost: host, nodePort: port } = config;
  return { variable: nodeVariable(config), what: 'the backends of apps', host, port };
}

/** On a laptop, without a proxy, browsers come to the port of the origin: changing another would lead nowhere. */
function shellVariable({ origin, effective }: Pick<PlatformConfig, 'origin' | 'effective'>): string {
  return decides(effective, 'PLATFORM_LISTEN_PORT', origin) ? 'PLATFORM_LISTEN_PORT' : 'PLATFORM_OS_ORIGIN';
}

function nodeVariable({ nodeOrigin, effective }: Pick<PlatformConfig, 'nodeOrigin' | 'effective'>): string {
  return decides(effective, 'PLATFORM_NODE_LISTEN_PORT', nodeOrigin)
    ? 'PLATFORM_NODE_LISTEN_PORT'
    : 'PLATFORM_NODE_ORIGIN';
}

function decides(effective: PlatformConfig['effective'], variable: string, origin: string): boolean {
  return origin.startsWith('https:') || effective.some(({ name, set }) => name === variable && set);
}

/** @throws StartError `ports_contradict` when two of them would take the same port */
export function requireDifferentPorts(listeners: readonly PlannedListener[]): void {
  for (const [index, one] of listeners.entries()) {
    const other = listeners.slice(index + 1).find((later) => overlap(one, later));
    if (other === undefined) continue;
    throw new StartError(
      'ports_contradict',
      `${one.variable} and ${other.variable} both name port ${one.port} on ${other.host}; give them different ports.`,
    );
  }
}

const EVERY_ADDRESS = ['0.0.0.0', '::'];

function overlap(one: PlannedListener, other: PlannedListener): boolean {
  if (one.port !== other.port) return false;
  return one.host === other.host || EVERY_ADDRESS.includes(one.host) || EVERY_ADDRESS.includes(other.host);
}
