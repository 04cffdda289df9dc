// Core as a part: it has the database and the master key, and knows the machine as a node and as an Ingress by what is
// public of their keys.
import type { PlatformConfig } from '@platform/core/config';
import { namesPort, type PlannedListener } from '../../process/listeners.ts';
import type { Absence, ProgramPart, StartingPlatform } from '../part.ts';
import { postgres } from './postgres.ts';

export interface CoreOrder {
  readonly config: PlatformConfig;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly absence: Absence;
  readonly databaseUrl: string;
  /** The machine as a node: what is public of its key. */
  readonly node: { readonly publicKey: Uint8Array; readonly name: string; readonly inherits: boolean };
  /** The same as an Ingress; `null` where it is none. */
  readonly ingress: { readonly publicKey: Uint8Array; readonly name: string } | null;
}

export interface CoreReport {
  readonly port: number;
  /** The public half of the key that all cores of the platform share. */
  readonly linkKey: Uint8Array;
  /** Name of the account that looks after the platform; `null` for none. */
  readonly operator: string | null;
  /** What the operator should know of the accounts. */
  readonly notices: readonly string[];
}

export const core: ProgramPart<'Core', CoreReport, CoreOrder> = {
  name: 'Core',
  program: new URL('./core-process.ts', import.meta.url),
  withheld: /^PLATFORM_/,
  isConfigured: () => true,
  needs: [postgres],
  async order(platform) {
    const { config, folder, absence } = platform;
    const { machineName, openNodeIdentity } = await import('../../members/node-identity.ts');
    const { openIngressKey } = await import('../../members/ingress-identity.ts');
    const { key, inherits } = openNodeIdentity(folder);
    const name = machineName();
    const ingress = config.ingressListen === null ? null : { publicKey: openIngressKey(folder).publicKey, name };
    return {
      config,
      folder,
      absence,
      databaseUrl: databaseUrlOf(platform),
      node: { publicKey: key.publicKey, name, inherits },
      ingress,
    };
  },
  listeners(config): PlannedListener[] {
    const { origin, listenHost, listenPort, linkListen } = config;
    // On a laptop, without a proxy, browsers come to the port of the origin: changing another would lead nowhere.
    const variable = namesPort(config, 'PLATFORM_LISTEN_PORT', origin) ? 'PLATFORM_LISTEN_PORT' : 'PLATFORM_OS_ORIGIN';
    return [
      { variable, host: listenHost, port: listenPort, what: 'the shell, its API and apps', origin, isKept: true },
      ...(linkListen === null
        ? []
        : [{ variable: 'PLATFORM_LINK_LISTEN', ...linkListen, what: 'nodes on other machines' }]),
    ];
  },
  greeting: ({ report }) => ({
    notices: report?.notices ?? [],
    facts: [{ label: 'Operator', value: report?.operator ?? NO_OPERATOR }],
  }),
};

const NO_OPERATOR = 'nobody yet: register, then ./platform account operator <account name>';

/** Where the platform's database is reached: the one it brings, or the configured one. */
export function databaseUrlOf({ config, reportOf }: Pick<StartingPlatform, 'config' | 'reportOf'>): string {
  return reportOf(postgres)?.url ?? config.databaseUrl ?? '';
}

/** Where the other parts reach core, which runs: over loopback, under the name that it answers to. */
export function coreAddress({ config, reportOf }: StartingPlatform): {
  readonly coreOrigin: string;
  readonly coreHost: string;
} {
  return {
    coreOrigin: `http://${loopback(config.listenHost)}:${reportOf(core)?.port}`,
    coreHost: new URL(config.origin).host,
  };
}

/** Where to reach ourselves when listening on every address. */
function loopback(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}
