// What an Ingress needs of the configuration, and nothing that it must not have: no database, no master key.
import type { PlatformConfig } from '@platform/core/config';

const members = [
  'ingressListen',
  'ingressTls',
  'ingressLink',
  'linkCarrier',
  'irohRelay',
  'ingressHttpListen',
  'ingressPublicPort',
  'ingressDomain',
  'ingressLimits',
  'ingressLog',
  'trustedProxies',
] as const satisfies readonly (keyof PlatformConfig)[];

export interface IngressConfig extends Pick<PlatformConfig, (typeof members)[number]> {
  /** Certificate authorities, PEM, besides those of the system; `null` for no others. */
  readonly ca: string | null;
}

export function ingressConfig(config: PlatformConfig): IngressConfig {
  const picked = Object.fromEntries(members.map((name) => [name, config[name]])) as Omit<IngressConfig, 'ca'>;
  return { ...picked, ca: config.outbound.ca };
}
