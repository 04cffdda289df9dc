// The node as a part: the Runtime and the Gateways of this machine. It gets neither the database nor the master key; what
// it may do at core it proves with its own key, at its start and whenever core has come back.
import type { LogLevel } from '@platform/core/log';
import { type NodeConfig, nodeConfig } from '../../node/config.ts';
import { nodeListener } from '../../node/listener.ts';
import type { ProgramPart } from '../part.ts';
import { core, coreAddress } from './core.ts';

export interface NodeOrder {
  readonly config: NodeConfig;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly coreOrigin: string;
  readonly coreHost: string;
  /** What cores on other machines prove where they reach this one. */
  readonly controllerKey: Uint8Array;
  readonly logLevel: LogLevel;
  readonly withMetrics: boolean;
}

export interface NodeReport {
  /** How workloads are confined here, and why so, for people. */
  readonly sandbox: string;
  readonly because: readonly string[];
}

export const node: ProgramPart<'Node', NodeReport, NodeOrder> = {
  name: 'Node',
  program: new URL('./node-process.ts', import.meta.url),
  isConfigured: ({ localNode }) => localNode,
  async order(platform) {
    const { config, folder, reportOf } = platform;
    return {
      config: nodeConfig(config),
      folder,
      ...coreAddress(platform),
      controllerKey: reportOf(core)?.linkKey ?? new Uint8Array(),
      logLevel: config.logLevel,
      withMetrics: config.metricsListen !== null,
    };
  },
  listeners: (config) => [nodeListener(config)],
  greeting: ({ config, report }) => ({
    warnings: config.allowUnsandboxed
      ? [
          'WARNING: PLATFORM_RUNTIME_ALLOW_UNSANDBOXED=true. Where no sandbox can be made, apps run with',
          'your rights on this machine. Use it only with apps you wrote yourself.',
        ]
      : [],
    facts: [
      {
        label: 'Workloads',
        value: report?.sandbox ?? 'none here (PLATFORM_LOCAL_NODE=false): they run on the nodes that join',
      },
      ...(report?.because ?? []).map((value) => ({ label: '', value, isDetail: true })),
    ],
  }),
};
