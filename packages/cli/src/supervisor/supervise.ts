// The supervisor: runs PostgreSQL, core, the node and the Ingress of this machine as processes of their own, starts again what ends
// by itself, and ends them in the reverse order of starting. It serves no requests but those for metrics.

import { diskSpace, keepBallast, type PlatformConfig } from '@platform/core/config';
import { startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import { openDataFolder, reasonOf, StartError } from '@platform/core/start';
import { configuration } from '../configuration.ts';
import { requireDisk } from '../disk-notice.ts';
import { ingressConfig } from '../ingress-config.ts';
import { openIngressKey } from '../ingress-identity.ts';
import { announceInstance, forgetInstance } from '../instance.ts';
import { plannedListeners, requireDifferentPorts } from '../listeners.ts';
import { serveMetrics } from '../metrics.ts';
import { nodeConfig } from '../node-config.ts';
import { machineName, openNodeIdentity } from '../node-identity.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from '../running.ts';
import { say, step } from '../terminal.ts';
import type { CoreOrder, CoreReport } from './core-part.ts';
import { greeting } from './greeting.ts';
import type { IngressOrder, IngressReport } from './ingress-part.ts';
import { KeptPart, type Running } from './kept-part.ts';
import type { LogFile } from './log-file.ts';
import { mergeMetrics, metricsOfParts } from './merge-metrics.ts';
import type { NodeOrder, NodeReport } from './node-part.ts';
import type { PartProgram, RunningProcess } from './part-process.ts';
import { releaseStartMemory } from './release-start-memory.ts';

export interface Programs {
  readonly core: PartProgram<CoreOrder, CoreReport>;
  readonly node: PartProgram<NodeOrder, NodeReport>;
  readonly ingress: PartProgram<IngressOrder, IngressReport>;
}

export interface Telling {
  /** All settings, not only those that differ from their defaults. */
  readonly verbose: boolean;
  /** Where the parts' log goes, if not where they write it. */
  readonly log: LogFile | undefined;
}

/** @returns the exit code. @throws StartError when the platform does not start, or a part cannot be restarted */
export async function supervise(programs: Programs, { verbose, log }: Telling): Promise<number> {
  const config = configuration();
  if (!config.localNode) programs.node.unload();
  if (config.ingressListen === null) programs.ingress.unload();
  let reload: () => void = () => undefined;
  const stopRequested = stopSignals(() => reload());
  const started = new Started();
  const begun = performance.now();
  return runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    const logFile = log?.open(folder.path);
    if (config.databaseUrl === null) requireDisk(folder.path);
    await requireFreePorts(config);
    const parts = await startParts({ config, folder: folder.path, programs, started });
    reload = parts.reload;
    if (config.metricsListen !== null) await serveMetrics(config.metricsListen, started, parts.metrics);
    // In one write, so that readers of the output never see a part of it.
    say(
      greeting({
        config,
        dataDirectory: folder.path,
        notices: parts.notices,
        node: parts.node,
        hasPublicNames: parts.ingress?.hasNames === true,
        milliseconds: performance.now() - begun,
        verbose,
        logFile,
        columns: process.stdout.isTTY ? process.stdout.columns : undefined,
      }),
    );
    started.add(keepBallastWhile(folder.path));
    releaseStartMemory();
    const ended = await Promise.race([
      stopRequested.then((signal) => ({ signal })),
      ...parts.kept.map((part) => part.gaveUp.then((why) => ({ why }))),
    ]);
    if ('why' in ended) throw new StartError('part_given_up', ended.why);
    return { why: ended.signal, code: 0 };
  });
}

const LOOK_FOR_SPACE_MILLISECONDS = 30_000;

/** @returns what ends it */
function keepBallastWhile(folder: string): () => void {
  const look = () => {
    const { freeBytes, reserveBytes } = diskSpace(folder);
    try {
      keepBallast(folder, freeBytes - reserveBytes);
    } catch (error) {
      say(`The file that keeps space for a start on a full disk could not be made: ${reasonOf(error)}.`);
    }
  };
  look();
  const timer = setInterval(look, LOOK_FOR_SPACE_MILLISECONDS);
  return () => clearInterval(timer);
}

interface Place {
  readonly config: PlatformConfig;
  readonly folder: string;
  readonly programs: Programs;
  readonly started: Started;
}

type Kept = Pick<KeptPart<Running>, 'state' | 'gaveUp' | 'release'>;

interface Parts {
  readonly kept: readonly Kept[];
  /** What the operator should know of the accounts. */
  readonly notices: readonly string[];
  /** `null` where no workloads run on this machine. */
  readonly node: NodeReport | null;
  /** `null` where strangers cannot reach this machine. */
  readonly ingress: IngressReport | null;
  metrics(): Promise<string>;
  /** Core reads its files again. */
  reload(): void;
}

/** Each is started when the one before it serves. */
async function startParts({ config, folder, programs, started }: Place): Promise<Parts> {
  const kept: Kept[] = [];
  let databaseUrl = config.databaseUrl ?? '';
  let announced = false;
  const announce = () => {
    const parts = kept.map(({ state }) => state);
    if (announced) announceInstance(folder, { pid: process.pid, databaseUrl, origin: config.origin, parts });
  };
  async function keep<Part extends Running>(name: string, start: () => Promise<Part>): Promise<KeptPart<Part>> {
    const part = new KeptPart({ name, start, log: say, changed: announce });
    await step(name, () => part.start(), { worthSaying: 1_000 });
    started.add(() => part.stop());
    kept.push(part);
    return part;
  }

  const postgres =
    config.databaseUrl !== null
      ? null
      : await keep('PostgreSQL', () => startEmbeddedPostgres({ dataDir: folder, log: say }));
  // The same after every restart of the server.
  if (postgres !== null) databaseUrl = (await postgres.running()).url;
  const { key, inherits } = openNodeIdentity(folder);
  const listen = config.ingressListen;
  const ingressKey = listen === null ? null : openIngressKey(folder).publicKey;
  const core = await keep('Core', async () => {
    await postgres?.running();
    const node = { publicKey: key.publicKey, name: machineName(), inherits };
    const ingress = ingressKey === null ? null : { publicKey: ingressKey, name: machineName() };
    return programs.core.start({ config, folder, databaseUrl, node, ingress });
  });
  const { port, linkKey, notices } = (await core.running()).report;
  const coreOrigin = `http://${loopback(config.listenHost)}:${port}`;
  const coreHost = new URL(config.origin).host;
  const withMetrics = config.metricsListen !== null;
  const node = config.localNode
    ? await keep('Node', () =>
        programs.node.start({
          config: nodeConfig(config),
          folder,
          coreOrigin,
          coreHost,
          controllerKey: linkKey,
          logLevel: config.logLevel,
          withMetrics,
        }),
      )
    : null;
  const ingress =
    listen === null
      ? null
      : await keep('Ingress', () =>
          programs.ingress.start({
            config: ingressConfig(config),
            listen,
            folder,
            coreOrigin,
            coreHost,
            logLevel: config.logLevel,
            withMetrics,
          }),
        );
  announced = true;
  announce();
  started.add(() => {
    // A service manager signals PostgreSQL too, which may then end before its turn.
    for (const part of kept) part.release();
    announced = false;
    forgetInstance(folder);
  });
  const processes: readonly ({ readonly current: RunningProcess<unknown> | null } | null)[] = [core, node, ingress];
  return {
    kept,
    notices,
    node: (await node?.running())?.report ?? null,
    ingress: (await ingress?.running())?.report ?? null,
    reload: () => core.current?.reload(),
    async metrics() {
      const texts = await Promise.all(processes.map((part) => part?.current?.metrics() ?? ''));
      return mergeMetrics([metricsOfParts(kept.map(({ state }) => state)), ...texts]);
    },
  };
}

async function requireFreePorts(config: PlatformConfig): Promise<void> {
  const listeners = plannedListeners(config);
  requireDifferentPorts(listeners);
  for (const { variable, host, port } of listeners) await requireFreePort(variable, host, port);
}

/** Where to reach ourselves when listening on every address. */
function loopback(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}
