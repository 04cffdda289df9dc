// What an Ingress needs of the configuration, and nothing that it must not have: no database, no master key.
import type { PlatformConfig } from '@platform/core/config';

const members = [
  'ingressListen',
  'ingressTls',
  'ingressLink',
  'linkCarrier',
  'irohRelay',
  'ingressLimits',
  'ingressLog',
  'trustedProxies',
] as const satisfies readonly (keyof PlatformConfig)[];

export type IngressConfig = Pick<PlatformConfig, (typeof members)[number]>;

export function ingressConfig(config: PlatformConfig): IngressConfig {
  return Object.fromEntries(members.map((name) => [name, config[name]])) as IngressConfig;
}
