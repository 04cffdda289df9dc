// Where the internet reaches an Ingress, beside core or on a machine that joined.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';
import type { PlannedListener } from '../process/listeners.ts';

/** None where PLATFORM_INGRESS_LISTEN is empty. */
export function ingressListeners({ ingressListen, ingressHttpListen }: PlatformConfig): PlannedListener[] {
  if (ingressListen === null) return [];
  const apps: PlannedListener = {
    variable: 'PLATFORM_INGRESS_LISTEN',
    ...ingressListen,
    what: 'apps on the internet',
    isOnPublicPath: true,
    isKept: true,
  };
  if (ingressHttpListen === null) return [apps];
  return [
    apps,
    { variable: 'PLATFORM_INGRESS_HTTP_LISTEN', ...ingressHttpListen, what: 'redirects to https', isKept: true },
  ];
}

/** @throws StartError `no_listener` where PLATFORM_INGRESS_LISTEN is empty */
export function requireListen({
  ingressListen,
}: Pick<PlatformConfig, 'ingressListen'>): NonNullable<PlatformConfig['ingressListen']> {
  if (ingressListen !== null) return ingressListen;
  throw new StartError(
    'no_listener',
    'PLATFORM_INGRESS_LISTEN is empty, so this Ingress would not listen anywhere. Set it to an address and a port.',
  );
}
