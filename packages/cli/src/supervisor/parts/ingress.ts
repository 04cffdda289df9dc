// The Ingress of this machine as a part: strangers reach it, so it has neither the database nor the master key, and runs
// no app.
import type { LogLevel } from '@platform/core/log';
import { type IngressConfig, ingressConfig } from '../../ingress/config.ts';
import { ingressListeners } from '../../ingress/listeners.ts';
import type { ProgramPart } from '../part.ts';
import { coreAddress } from './core.ts';

export interface IngressOrder {
  readonly config: IngressConfig;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly coreOrigin: string;
  readonly coreHost: string;
  readonly logLevel: LogLevel;
  readonly withMetrics: boolean;
}

export interface IngressReport {
  /** Whether an app has an address on the internet. */
  readonly hasNames: boolean;
}

export const ingress: ProgramPart<'Ingress', IngressReport, IngressOrder> = {
  name: 'Ingress',
  program: new URL('./ingress-process.ts', import.meta.url),
  isConfigured: ({ ingressListen }) => ingressListen !== null,
  async order(platform) {
    const { config, folder } = platform;
    return {
      config: ingressConfig(config),
      folder,
      ...coreAddress(platform),
      logLevel: config.logLevel,
      withMetrics: config.metricsListen !== null,
    };
  },
  listeners: ingressListeners,
  greeting({ config: { ingressOrigin, ingressDomain }, report }) {
    // Most platforms have no such app, and need not read of it.
    if (report?.hasNames !== true) return {};
    const { scheme, port } = ingressOrigin;
    return { addresses: [{ label: 'Internet', value: `${scheme}://*.${ingressDomain}${port}` }] };
  },
};
