// The supervisor: runs PostgreSQL, core, the node and the Ingress of this machine as processes of their own, starts again what ends
// by itself, and ends them in the reverse order of starting. It serves no requests but those for metrics.

import { diskSpace, keepBallast, type PlatformConfig } from '@platform/core/config';
import { startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import { openDataFolder, reasonOf, StartError } from '@platform/core/start';
import { configuration } from '../configuration.ts';
import { diskNotice, requireDisk } from '../disk-notice.ts';
import { ingressConfig } from '../ingress-config.ts';
import { openIngressKey } from '../ingress-identity.ts';
import { announceInstance, forgetInstance } from '../instance.ts';
import { serveMetrics } from '../metrics.ts';
import { nodeConfig } from '../node-config.ts';
import { machineName, openNodeIdentity } from '../node-identity.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from '../running.ts';
import { paint, say, step } from '../terminal.ts';
import type { CoreOrder, CoreReport } from './core-part.ts';
import type { IngressOrder, IngressReport } from './ingress-part.ts';
import { KeptPart, type Running } from './kept-part.ts';
import { mergeMetrics, metricsOfParts } from './merge-metrics.ts';
import type { NodeOrder, NodeReport } from './node-part.ts';
import type { PartProgram, RunningProcess } from './part-process.ts';
import { releaseStartMemory } from './release-start-memory.ts';

export interface Programs {
  readonly core: PartProgram<CoreOrder, CoreReport>;
  readonly node: PartProgram<NodeOrder, NodeReport>;
  readonly ingress: PartProgram<IngressOrder, IngressReport>;
}

/** @returns the exit code. @throws StartError when the platform does not start, or a part cannot be restarted */
export async function supervise(programs: Programs): Promise<number> {
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
    if (config.databaseUrl === null) requireDisk(folder.path);
    await requireFreePorts(config);
    const parts = await startParts({ config, folder: folder.path, programs, started });
    reload = parts.reload;
    if (config.metricsListen !== null) await serveMetrics(config.metricsListen, started, parts.metrics);
    greet(config, folder.path, parts, performance.now() - begun);
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
    await step(name, () => part.start());
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
  const { port, linkKey } = (await core.running()).report;
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
    node: (await node?.running())?.report ?? null,
    ingress: (await ingress?.running())?.report ?? null,
    reload: () => core.current?.reload(),
    async metrics() {
      const texts = await Promise.all(processes.map((part) => part?.current?.metrics() ?? ''));
      return mergeMetrics([metricsOfParts(kept.map(({ state }) => state)), ...texts]);
    },
  };
}

async function requireFreePorts({
  listenHost,
  listenPort,
  nodePort,
  localNode,
  linkListen,
  ingressListen,
  ingressHttpListen,
}: PlatformConfig): Promise<void> {
  await requireFreePort('PLATFORM_OS_ORIGIN', listenHost, listenPort);
  if (localNode) await requireFreePort('PLATFORM_NODE_ORIGIN', listenHost, nodePort);
  if (linkListen !== null) await requireFreePort('PLATFORM_LINK_LISTEN', linkListen.host, linkListen.port);
  if (ingressListen === null) return;
  await requireFreePort('PLATFORM_INGRESS_LISTEN', ingressListen.host, ingressListen.port);
  if (ingressHttpListen !== null)
    await requireFreePort('PLATFORM_INGRESS_HTTP_LISTEN', ingressHttpListen.host, ingressHttpListen.port);
}

/** Where to reach ourselves when listening on every address. */
function loopback(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}

function publicAddresses({ ingressOrigin: { scheme, port }, ingressDomain }: PlatformConfig): string {
  return `${scheme}://*.${ingressDomain}${port}`;
}

/** Prints the greeting in one write, so that readers of the output never see a part of it. */
function greet(
  config: PlatformConfig,
  dataDirectory: string,
  { node, ingress }: Pick<Parts, 'node' | 'ingress'>,
  milliseconds: number,
): void {
  const configuration = config.effective.map(({ name, value, set }) =>
    paint('dim', `    ${name}=${value}${set ? '' : '  (default)'}`),
  );
  const warning = [
    'WARNING: PLATFORM_RUNTIME_ALLOW_UNSANDBOXED=true. Where no sandbox can be made, apps run with',
    'your rights on this machine. Use it only with apps you wrote yourself.',
  ];
  // A terminal shows the end of what was printed: the address stands there, below the forty lines of configuration.
  const lines = [
    '',
    paint('dim', '  Configuration'),
    ...configuration,
    '',
    `  ${paint('bold', 'The platform is running.')}  ${paint('dim', `${(milliseconds / 1000).toFixed(1)} s`)}`,
    '',
    ...[...config.notices, diskNotice(dataDirectory) ?? []]
      .flat()
      .map((notice) => `  ${paint('yellow', '!')} ${notice}`),
    ...(config.allowUnsandboxed ? [...warning.map((line) => `  ${paint('red', line)}`), ''] : []),
    `  Workloads    ${node?.sandbox ?? 'none here (PLATFORM_LOCAL_NODE=false): they run on the nodes that join'}`,
    ...(node?.because ?? []).map((line) => paint('dim', `               ${line}`)),
    `  Data folder  ${dataDirectory}`,
    // Most platforms have no such app, and need not read of it.
    ...(ingress?.hasNames === true ? [`  Internet     ${publicAddresses(config)}`] : []),
    `  Address      ${paint('cyan', config.origin)}`,
    '',
    paint('dim', '  Ctrl-C stops it.'),
    '',
  ];
  say(lines.join('\n'));
}
