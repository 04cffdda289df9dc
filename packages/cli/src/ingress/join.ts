// A machine as an Ingress: joining with the operator's token, once, and running as that Ingress ever after.
import type { PlatformConfig } from '@platform/core/config';
import { openDataFolder } from '@platform/core/start';
import { type LinkKey, readPublicKey } from '@platform/link';
import { UsageError } from '../command.ts';
import { configuration } from '../local/configuration.ts';
import { openIngressKey } from '../members/ingress-identity.ts';
import { MemberLog } from '../members/member-log.ts';
import { forgetMembership, join, joinArguments, type Membership, requireMembership } from '../members/membership.ts';
import { serveOwnMetrics } from '../process/metrics.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from '../process/running.ts';
import { paint, say, step } from '../terminal/terminal.ts';
import { ingressConfig } from './config.ts';
import { ingressListeners, requireListen } from './listeners.ts';
import { ingressMetrics } from './metrics.ts';
import { startIngressProcess } from './start-ingress.ts';

export async function joinIngress(args: readonly string[]): Promise<number> {
  const given = joinArguments('ingress', args);
  return run(configuration(), (folder, key) => step('Joining', () => join('ingress', given, { folder, key })));
}

export async function startJoinedIngress(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError('./platform ingress start takes no arguments.');
  return run(configuration(), async (folder) => requireMembership('ingress', folder));
}

async function run(
  config: PlatformConfig,
  belong: (folder: string, key: LinkKey) => Promise<Membership>,
): Promise<number> {
  const log = new MemberLog(config.logLevel);
  const listen = requireListen(config);
  const stopRequested = stopSignals();
  const started = new Started();
  const running = runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    const logFile = log.open(folder.path);
    for (const { variable, host, port } of ingressListeners(config)) await requireFreePort(variable, host, port);
    const key = openIngressKey(folder.path);
    const member = await belong(folder.path, key);
    const coreKey = member.coreKey === null ? null : readPublicKey(member.coreKey);
    const metrics = await serveOwnMetrics('ingress', ingressMetrics, config, started);
    const removed = Promise.withResolvers<string>();
    const ingress = await step('Ingress', () =>
      startIngressProcess(ingressConfig(config), {
        coreOrigin: member.coreUrl,
        coreHost: member.coreHost,
        ...(coreKey === null ? {} : { coreKey }),
        key,
        listen,
        onRemoved: () => removed.resolve('removed'),
        log: log.log,
        output: log.output,
        metrics,
        folder: folder.path,
      }),
    );
    started.add(() => ingress.stop());
    greet(config, member, { listens: `${listen.host} port ${ingress.port}`, logFile });
    void ingress.informed.then(() => say('  It knows the public names of this platform.\n'));
    const ended = await Promise.race([stopRequested, removed.promise]);
    if (ended !== 'removed') return { why: ended, code: 0 };
    forgetMembership('ingress', folder.path);
    return { why: 'this Ingress was removed from the platform', code: 1 };
  });
  return running.finally(() => log.close());
}

interface Place {
  readonly listens: string;
  /** Where the log is, if not here. */
  readonly logFile: string | undefined;
}

function greet(config: PlatformConfig, member: Membership, { listens, logFile }: Place): void {
  const lines = [
    '',
    `  ${paint('bold', 'The Ingress is running.')}`,
    '',
    `  Name         ${member.name}`,
    `  Core         ${paint('cyan', member.coreUrl)}`,
    `  Listens at   ${listens}`,
    `  Data folder  ${config.dataDirectory}`,
    ...(logFile === undefined ? [] : [`  Log          ${logFile}`]),
    '',
  ];
  say(lines.join('\n'));
}
