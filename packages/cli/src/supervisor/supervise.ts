// The supervisor: runs the parts of the platform (parts/table.ts) as processes of their own, starts again what ends by itself,
// and ends them in the reverse order of starting. It serves no requests but those for metrics.

import { diskSpace, keepBallast, type PlatformConfig } from '@platform/core/config';
import { openDataFolder, reasonOf, requireFolder, StartError } from '@platform/core/start';
import { requireDisk } from '../disk/disk-notice.ts';
import { configuration } from '../local/configuration.ts';
import { readRelease } from '../local/release.ts';
import { requireDifferentPorts } from '../process/listeners.ts';
import { serveMetrics } from '../process/metrics.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from '../process/running.ts';
import type { LogFile } from '../terminal/log-file.ts';
import { say } from '../terminal/terminal.ts';
import { greeting } from './greeting.ts';
import { keepParts, type Programs } from './keep-parts.ts';
import { plannedListeners } from './listeners.ts';
import type { Absence, Part } from './part.ts';
import { releaseStartMemory } from './release-start-memory.ts';

export interface Telling {
  /** All settings, not only those that differ from their defaults. */
  readonly verbose: boolean;
  /** Where the parts' log goes, if not where they write it. */
  readonly log: LogFile | undefined;
  readonly absence: Absence;
}

/** @returns the exit code. @throws StartError when the platform does not start, or a part cannot be restarted */
export async function supervise(
  parts: readonly Part[],
  programs: Programs,
  { verbose, log, absence }: Telling,
): Promise<number> {
  const config = configuration();
  for (const [part, program] of programs) if (!part.isConfigured(config)) program.unload();
  let reload: () => void = () => undefined;
  const stopRequested = stopSignals(() => reload());
  const started = new Started();
  const begun = performance.now();
  return runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    requireFolder(folder.path, { embedded: config.databaseUrl === null, isNew: absence === 'new' });
    const logFile = log?.open(folder.path);
    if (config.databaseUrl === null) requireDisk(folder.path);
    await requireFreePorts(config, parts);
    const place = { config, folder: folder.path, absence, programs, started, release: readRelease() };
    const kept = await keepParts(parts, place);
    reload = () => kept.reload();
    if (config.metricsListen !== null) await serveMetrics(config.metricsListen, started, () => kept.metrics());
    // In one write, so that readers of the output never see a part of it.
    say(
      greeting({
        config,
        release: place.release,
        dataDirectory: folder.path,
        parts,
        reportOf: kept.reportOf,
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
      kept.gaveUp.then((why) => ({ why })),
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

async function requireFreePorts(config: PlatformConfig, parts: readonly Part[]): Promise<void> {
  const listeners = plannedListeners(config, parts);
  requireDifferentPorts(listeners);
  for (const { variable, host, port } of listeners) await requireFreePort(variable, host, port);
}
