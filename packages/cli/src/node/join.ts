// A machine as a node: joining with the operator's token, once, and running as that node ever after.
import type { PlatformConfig } from '@platform/core/config';
import { openDataFolder } from '@platform/core/start';
import { type LinkKey, readPublicKey } from '@platform/link';
import { UsageError } from '../command.ts';
import { configuration } from '../local/configuration.ts';
import { MemberLog } from '../members/member-log.ts';
import {
  forgetMembership,
  join,
  joinArguments,
  joinedAs,
  type Membership,
  requireMembership,
} from '../members/membership.ts';
import { findNodeKey, openNodeIdentity, requireNodeKey } from '../members/node-identity.ts';
import { serveOwnMetrics } from '../process/metrics.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from '../process/running.ts';
import { paint, say, step } from '../terminal/terminal.ts';
import { nodeConfig } from './config.ts';
import { nodeListener } from './listener.ts';
import { nodeMetrics } from './metrics.ts';
import { startNodeRuntime } from './runtime.ts';
import { type NodeSides, nodeSides } from './sides.ts';

export async function joinNode(args: readonly string[]): Promise<number> {
  const given = joinArguments('node', args);
  const config = configuration();
  // Without its key this machine is no member any more, whatever its folder says, and may become one again.
  const rejoins = findNodeKey(config.dataDirectory) === null;
  return run(config, (folder, key) => step('Joining', () => join('node', given, { folder, key, rejoins })));
}

export async function startJoinedNode(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError('./platform node start takes no arguments.');
  const config = configuration();
  if (joinedAs(config.dataDirectory) === 'node') requireNodeKey(config.dataDirectory);
  return run(config, async (folder) => requireMembership('node', folder));
}

async function run(
  config: PlatformConfig,
  belong: (folder: string, key: LinkKey) => Promise<Membership>,
): Promise<number> {
  const log = new MemberLog(config.logLevel);
  const stopRequested = stopSignals();
  const started = new Started();
  const running = runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    const logFile = log.open(folder.path);
    const { variable, host, port } = nodeListener(config);
    await requireFreePort(variable, host, port);
    const { key } = openNodeIdentity(folder.path);
    const member = await belong(folder.path, key);
    const coreKey = member.coreKey === null ? null : readPublicKey(member.coreKey);
    const controllerKey = readPublicKey(member.controllerKey ?? member.coreKey ?? '');
    const sides = await nodeSides(config, { ...member, coreKey, controllerKey });
    const metrics = await serveOwnMetrics('node', nodeMetrics, config, started);
    const removed = Promise.withResolvers<string>();
    const runtime = await step('Runtime', () =>
      startNodeRuntime(nodeConfig(config), {
        dataDirectory: folder.path,
        coreOrigin: member.coreUrl,
        coreHost: member.coreHost,
        ...(coreKey === null ? {} : { coreKey }),
        ...(controllerKey === null ? {} : { controllerKey }),
        key,
        ...sides.over,
        onRemoved: () => removed.resolve('removed'),
        log: log.log,
        metrics,
      }),
    );
    started.add(() => runtime.stop());
    greet({ config, member, sandbox: runtime.sandbox, sides, logFile });
    void runtime.registered.then(() => say('  Core knows this node.\n'));
    const ended = await Promise.race([stopRequested, removed.promise]);
    if (ended !== 'removed') return { why: ended, code: 0 };
    forgetMembership('node', folder.path);
    return { why: 'this machine was removed from the platform', code: 1 };
  });
  return running.finally(() => log.close());
}

interface Greeting {
  readonly config: PlatformConfig;
  readonly member: Membership;
  /** How workloads are confined. */
  readonly sandbox: string;
  readonly sides: NodeSides;
  /** Where the log is, if not here. */
  readonly logFile: string | undefined;
}

function greet({ config, member, sandbox, sides: { over, shown }, logFile }: Greeting): void {
  const lines = [
    '',
    `  ${paint('bold', 'The node is running.')}`,
    '',
    `  Name         ${member.name}`,
    `  Core         ${paint('cyan', member.coreUrl)}`,
    `  Control      ${shown}`,
    `  Backends at  ${over.behindIngresses === true ? 'the Ingresses of the platform' : config.nodeOrigin}`,
    `  Data folder  ${config.dataDirectory}`,
    ...(logFile === undefined ? [] : [`  Log          ${logFile}`]),
    `  Workloads    ${sandbox}`,
    '',
  ];
  say(lines.join('\n'));
}
