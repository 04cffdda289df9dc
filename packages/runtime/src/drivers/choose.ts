// Chooses the driver of a node: the one that the operator names, or the strongest that works on this machine. Each
// driver proves that it works by confining a trial workload; that its programs are installed is not enough.
import type { DriverName, DriverReport } from './driver.ts';

export type DriverChoice = 'auto' | DriverName;

/** A driver, or as much of one as it takes to judge it. */
export interface Opened {
  readonly report: DriverReport;
  close(): Promise<void>;
}

export interface Candidate<Kind extends Opened> {
  open(): Promise<Kind>;
  /** Why `auto` leaves it alone on this machine, in one sentence; undefined when it is worth opening. */
  unfit?(): Promise<string | undefined>;
  /** Why `auto` does not take it although it is open and confines, in one sentence. */
  weaker?(report: DriverReport): string | undefined;
}

export type Candidates<Kind extends Opened> = Readonly<Partial<Record<DriverName, Candidate<Kind>>>>;

export interface Chosen<Kind extends Opened> {
  readonly driver: Kind;
  /** Why this one, and why not those before it: one sentence each, for a person. */
  readonly because: readonly string[];
}

/**
 * A separate kernel is the strongest isolation. The two drivers that share the host's kernel are equally strong, and
 * `process` comes first because it needs no engine, so that a user's own engine is used only as a last resort.
 */
const STRONGEST_FIRST: readonly DriverName[] = ['microvm', 'process', 'docker'];

/** The driver is open even where it cannot confine: then its report says why, and it refuses every start. */
export async function chooseDriver<Kind extends Opened>(
  choice: DriverChoice,
  candidates: Candidates<Kind>,
): Promise<Chosen<Kind>> {
  if (choice !== 'auto')
    return { driver: await named(choice, candidates).open(), because: ['PLATFORM_RUNTIME_DRIVER names it.'] };
  const passed: string[] = [];
  let fallback: Kind | undefined;
  for (const name of STRONGEST_FIRST) {
    const candidate = candidates[name];
    if (candidate === undefined) continue;
    const unfit = await candidate.unfit?.();
    if (unfit !== undefined) {
      passed.push(`Not ${name}: ${unfit}`);
      continue;
    }
    const driver = await candidate.open();
    const not = driver.report.ok
      ? candidate.weaker?.(driver.report)
      : (driver.report.reasons[0] ?? 'its trial failed.');
    if (not === undefined) {
      await fallback?.close();
      return { driver, because: ['It is the strongest that this machine can run.', ...passed] };
    }
    passed.push(`Not ${name}: ${not}`);
    // If no driver can confine, the report of `process` explains best why; and only it can run unconfined on request.
    if (name === 'process') fallback = driver;
    else await driver.close();
  }
  if (fallback === undefined) throw new Error('There is no driver to choose from.');
  return { driver: fallback, because: passed };
}

function named<Kind extends Opened>(name: DriverName, candidates: Candidates<Kind>): Candidate<Kind> {
  const candidate = candidates[name];
  if (candidate === undefined) throw new Error(`This Runtime was built without the driver ${name}.`);
  return candidate;
}
