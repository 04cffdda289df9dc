// Starts the parts of the platform one after the other, keeps them running, and says of them what operators ask for.
import { type ConfigurationVariable, configurationVariables } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { bindSockets, SOCKETS } from '@platform/http';
import { announceInstance, forgetInstance } from '../local/instance.ts';
import { type Release, readRelease, releaseText } from '../local/release.ts';
import type { Started } from '../process/running.ts';
import { say, step } from '../terminal/terminal.ts';
import { KeptPart, NeverAgain, type Running } from './kept-part.ts';
import { mergeMetrics, metricsOfParts } from './merge-metrics.ts';
import type { Absence, Part, StartingPlatform } from './part.ts';
import type { KeptSocket, PartProgram, RunningProcess } from './part-process.ts';
import { databaseUrlOf } from './parts/core.ts';

/** The program of each part that has one. */
export type Programs = ReadonlyMap<Part, PartProgram>;

export interface Place {
  readonly config: PlatformConfig;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly absence: Absence;
  readonly programs: Programs;
  readonly started: Started;
  /** Of all parts. One that ended is not started again with other code. */
  readonly release: Release;
}

export interface KeptParts extends Pick<StartingPlatform, 'reportOf'> {
  /** Settles with a sentence when one of them cannot be started any more. */
  readonly gaveUp: Promise<string>;
  /** Of all processes together, in the format of Prometheus. */
  metrics(): Promise<string>;
  /** Those that read files while they run read them again. */
  reload(): void;
}

type Served = Running & { readonly report: unknown };

/**
 * Each configured part is started when the one before it serves, and ended by `started` in the reverse order.
 *
 * @throws StartError when one of them does not start
 */
export async function keepParts(parts: readonly Part[], place: Place): Promise<KeptParts> {
  const { config, folder, absence, programs, started, release } = place;
  const kept = new Map<Part, KeptPart<Served>>();
  const reports = new Map<Part, unknown>();
  const platform: StartingPlatform = {
    config,
    folder,
    absence,
    reportOf: <Report>(part: Part<string, Report>) => (reports.get(part) ?? null) as Report | null,
  };
  const states = () => [...kept.values()].map(({ state }) => state);
  let announced = false;
  const announce = () => {
    if (!announced) return;
    announceInstance(folder, {
      pid: process.pid,
      databaseUrl: databaseUrlOf(platform),
      origin: config.origin,
      settings: settingsOf(config),
      masterAccount: config.masterAccount,
      parts: states(),
      release,
    });
  };

  for (const part of parts.filter((one) => one.isConfigured(config))) {
    const { name, needs = [] } = part;
    const sockets = socketsOf(part, config);
    // After the end of the part: what still waits there is refused then.
    started.add(() => {
      for (const { socket } of sockets) socket.close();
    });
    const serve = await startOf(part, platform, { programs, sockets });
    const start = async () => {
      if (kept.has(part)) requireSameCode(release, name);
      for (const needed of needs) await kept.get(needed)?.running();
      return serve();
    };
    const one = new KeptPart({ name, start, log: say, changed: announce });
    reports.set(part, (await step(name, () => one.start(), { worthSaying: 1_000 })).report);
    started.add(() => one.stop());
    kept.set(part, one);
  }
  announced = true;
  announce();
  started.add(() => {
    // A service manager signals PostgreSQL too, which may then end before its turn.
    for (const part of kept.values()) part.release();
    announced = false;
    forgetInstance(folder);
  });

  /** Of parts with a channel, those that run now. */
  const processes = (): RunningProcess[] =>
    [...programs.keys()].flatMap((part) => (kept.get(part)?.current as RunningProcess | null | undefined) ?? []);
  return {
    reportOf: platform.reportOf,
    gaveUp: Promise.race([...kept.values()].map((part) => part.gaveUp)),
    async metrics() {
      const texts = await Promise.all(processes().map((part) => part.metrics()));
      return mergeMetrics([metricsOfParts(states()), ...texts]);
    },
    reload() {
      for (const part of processes()) part.reload();
    },
  };
}

/**
 * One part of another release beside the others would migrate the database under them, and speak to them as they do not
 * know. All together they are started by the next start, which says what it migrates.
 *
 * @throws NeverAgain
 */
function requireSameCode(release: Release, name: string): void {
  const now = readRelease();
  if (now.mark === release.mark) return;
  const [before, after] = [releaseText(release), releaseText(now)];
  throw new NeverAgain(
    `${name} is not started again: the code of the platform was changed while it ran${before === after ? '' : `, from ${before} to ${after}`}. The platform stops, so that all of it is started with the same code: start it again.`,
  );
}

/** For commands that are typed in another terminal, where these variables are not set. */
function settingsOf({ effective }: PlatformConfig): Readonly<Record<string, string>> {
  const given = effective.filter(({ name, set }) => set && !isSecret(name as ConfigurationVariable));
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

function isSecret(name: ConfigurationVariable): boolean {
  return 'secret' in configurationVariables[name];
}

/** What starts the part, again and again. Its order is made once, before the first start. */
async function startOf(
  part: Part,
  platform: StartingPlatform,
  { programs, sockets }: { readonly programs: Programs; readonly sockets: readonly KeptSocket[] },
): Promise<() => Promise<Served>> {
  if (!('program' in part)) return () => part.start(platform);
  const order = await part.order(platform);
  const program = programs.get(part);
  if (program === undefined) throw new Error(`the program of ${part.name} was not loaded`);
  return () => program.start(order, sockets);
}

/** What is bound here, once, and listened on by the part after each of its starts. */
function socketsOf(part: Part, config: PlatformConfig): KeptSocket[] {
  return (part.listeners?.(config) ?? [])
    .filter(({ isKept }) => isKept === true)
    .flatMap(({ host, port }) =>
      bindSockets({ host, port }, SOCKETS).map((socket) => ({ place: { host, port }, socket })),
    );
}
