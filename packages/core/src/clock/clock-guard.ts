// The one guard against clocks that jump. Core's time is that of the machine as long as it agrees, within
// `limits.clockTolerance`, with the time last known and how long the machine has been on since. Once it does not, core's
// time goes on from what was known, and every sweep is held, until they agree again or the operator says that the clock
// is right. What was known is on record in the database, so that a restart changes nothing (docs/decisions/clock.md).
import { limits } from '@platform/contract';
import type { Kysely } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import type { MachineTime, Reading } from './machine-time.ts';
import { type Acceptance, acceptReading, noteReading, type OnRecord, readRecord } from './queries.ts';

declare const proven: unique symbol;
/** A time that has certainly passed. What deletes or ends by time compares with nothing else. */
export type ProvenTime = Date & { readonly [proven]: true };

export interface ClockHold {
  /**
   * `jumped`: the clock was set while the machine was on. `off`: it is ahead by what may be the time that the machine was off; up to
   * 30 days are believed by themselves once the machine has been on for an hour.
   * `database`: the clock of PostgreSQL differs.
   */
  readonly why: 'jumped' | 'off' | 'database';
  /** Of the clock that differs, beyond core's time; negative for one that is behind. */
  readonly aheadMilliseconds: number;
}

/** What takes part in a decision by time. */
export interface Time {
  /** The time that everything but deletion goes by. */
  readonly now: () => Date;
  /** Never later than {@link Time.now}. */
  proven(): ProvenTime;
  /** Compares the clocks anew. @returns the time a sweep goes by, `null` when none may run */
  sweep(): Promise<ProvenTime | null>;
  /** Why sweeps are held, as of the last comparison with PostgreSQL; `null` when they are not. */
  held(): ClockHold | null;
  /** The operator says that the machine's clock is right. Cores that run follow within `TICK_MILLISECONDS`. */
  accept(): Promise<void>;
}

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Cores note the time and hear the operator this often. */
export const TICK_MILLISECONDS = 15_000;
const TOLERANCE = limits.clockTolerance.value * 1_000;
/** How far ahead a clock is believed for everything but sweeps after the machine was off. */
const LONGEST_OFF = limits.clockLongestOff.value * 1_000;
/** A machine without a battery for its clock learns the time soon after its start. */
const LEARNING = 15 * 60_000;
/** After so long a time service has long set the clock of a machine that was off: what it is ahead by is how long that was. */
const SETTLED = 3_600_000;
/** The time last known is known anew this often, as clocks drift. */
const ANCHOR_MILLISECONDS = 3_600_000;
/** A step that is not looked at. */
const STEP = 1_000;
const REMINDER_MILLISECONDS = 3_600_000;

interface Seen {
  readonly wall: number;
  readonly now: number;
  readonly proven: number;
  readonly hold: ClockHold | null;
}

/** The moment `milliseconds` before a proven time. */
export function earlier(time: ProvenTime, milliseconds: number): ProvenTime {
  return new Date(time.getTime() - milliseconds) as ProvenTime;
}

export class ClockGuard implements Time {
  readonly now = (): Date => new Date(this.#look().now);
  readonly #machine: MachineTime;
  readonly #database: Kysely<DatabaseSchema>;
  readonly #log: Log;
  /** The time last known. */
  #anchor: { readonly at: number; readonly uptime: number };
  /** Whether the clock may be ahead of it because the machine was off. */
  #maybeOff: boolean;
  #revision: number;
  #seen: Seen | undefined;
  #databaseHold: ClockHold | null = null;
  #said: { readonly why: ClockHold['why']; readonly uptime: number } | null = null;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();

  private constructor(machine: MachineTime, { database, log }: GuardParts, record: OnRecord) {
    this.#machine = machine;
    this.#database = database;
    this.#log = log;
    const uptime = machine.uptime();
    const { own, newest, acceptance } = record;
    this.#revision = acceptance?.revision ?? 0;
    if (own !== null) {
      this.#anchor = { at: own.at.getTime(), uptime: own.uptimeMilliseconds };
      this.#maybeOff = own.maybeOff;
    } else {
      // A platform without any record begins with the time that the machine has.
      this.#anchor = { at: (newest ?? machine.clock()).getTime(), uptime };
      this.#maybeOff = newest !== null;
    }
    this.#compareDatabase(record.database);
  }

  /** Reads what is on record. Nothing is written before {@link start}. */
  static async open(machine: MachineTime, parts: GuardParts): Promise<ClockGuard> {
    return new ClockGuard(machine, parts, await readRecord(parts.database, machine.boot));
  }

  /** Notes the time from now on, and says in the log when sweeps are held. */
  async start(): Promise<void> {
    await this.tick();
    this.#timer = setInterval(() => {
      this.#ticking = this.#ticking
        .then(() => this.tick())
        .catch((error: unknown) => this.#log.warn({ err: error }, 'the time could not be noted'));
    }, TICK_MILLISECONDS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#ticking;
  }

  proven(): ProvenTime {
    const behind = Math.min(0, this.#databaseHold?.aheadMilliseconds ?? 0);
    return new Date(this.#look().proven + behind) as ProvenTime;
  }

  held(): ClockHold | null {
    return this.#look().hold ?? this.#databaseHold;
  }

  async sweep(): Promise<ProvenTime | null> {
    await this.#read();
    return this.held() === null ? this.proven() : null;
  }

  async accept(): Promise<void> {
    const reading = this.#reading(this.#machine.clock().getTime());
    await acceptReading(this.#database, { boot: this.#machine.boot, reading });
    this.#begin(reading);
    await this.#read();
  }

  /** Compares the clocks, hears the operator, notes the time. */
  async tick(): Promise<void> {
    await this.#read();
    this.#say();
    const at = this.#look().proven;
    const noted = {
      boot: this.#machine.boot,
      reading: this.#reading(at),
      maybeOff: this.#maybeOff,
      revision: this.#revision,
    };
    await noteReading(this.#database, noted);
  }

  async #read(): Promise<void> {
    const { acceptance, database } = await readRecord(this.#database, this.#machine.boot);
    if (acceptance !== null && acceptance.revision !== this.#revision) this.#hear(acceptance);
    this.#compareDatabase(database);
  }

  /** Another clock than the one that was meant stays unbelieved. */
  #hear(acceptance: Acceptance): void {
    this.#revision = acceptance.revision;
    const reading = this.#reading(this.#machine.clock().getTime());
    const isHere = acceptance.boot === this.#machine.boot;
    const passed = isHere ? reading.uptimeMilliseconds - acceptance.uptimeMilliseconds : TICK_MILLISECONDS / 2;
    if (Math.abs(reading.at.getTime() - acceptance.at.getTime() - passed) <= TOLERANCE) this.#begin(reading);
  }

  #reading(at: number): Reading {
    return { at: new Date(at), uptimeMilliseconds: this.#machine.uptime() };
  }

  #begin({ at, uptimeMilliseconds }: Reading): void {
    this.#anchor = { at: at.getTime(), uptime: uptimeMilliseconds };
    this.#maybeOff = false;
    this.#seen = undefined;
  }

  #compareDatabase(answered: Date): void {
    const aheadMilliseconds = (this.#machine.database?.() ?? answered).getTime() - this.#look().now;
    this.#databaseHold = Math.abs(aheadMilliseconds) > TOLERANCE ? { why: 'database', aheadMilliseconds } : null;
  }

  /** Within a second of the clock, what was seen before goes on: this is called several times for each request. */
  #look(): Seen {
    const wall = this.#machine.clock().getTime();
    const former = this.#seen;
    const step = former === undefined ? -1 : wall - former.wall;
    if (former !== undefined && step >= 0 && step < STEP)
      return { ...former, now: former.now + step, proven: former.proven + step };
    this.#seen = this.#judge(wall);
    return this.#seen;
  }

  #judge(wall: number): Seen {
    const uptime = this.#machine.uptime();
    const passed = uptime - this.#anchor.uptime;
    const known = this.#anchor.at + passed;
    const ahead = wall - known;
    if (Math.abs(ahead) <= TOLERANCE) {
      // Not each time: steps that are each within the tolerance would lead anywhere.
      this.#maybeOff = false;
      if (passed >= ANCHOR_MILLISECONDS) this.#anchor = { at: wall, uptime };
      return { wall, now: wall, proven: wall, hold: null };
    }
    if (uptime < LEARNING) this.#maybeOff = true;
    const isOff = this.#maybeOff && ahead > 0;
    const isBelieved = isOff && ahead <= LONGEST_OFF;
    if (isBelieved && uptime >= SETTLED) {
      this.#begin({ at: new Date(wall), uptimeMilliseconds: uptime });
      return { wall, now: wall, proven: wall, hold: null };
    }
    const hold: ClockHold = { why: isOff ? 'off' : 'jumped', aheadMilliseconds: ahead };
    return { wall, now: isBelieved ? wall : known, proven: known, hold };
  }

  #say(): void {
    const hold = this.held();
    const uptime = this.#machine.uptime();
    const said = this.#said;
    if (hold === null) {
      if (said !== null) this.#log.info({}, 'the clocks agree again; what deletes by time goes on');
      this.#said = null;
    } else if (said?.why !== hold.why || uptime - said.uptime >= REMINDER_MILLISECONDS) {
      this.#log.error({ ...hold, known: this.proven().toISOString() }, clockAlarm(hold));
      this.#said = { why: hold.why, uptime };
    }
  }
}

interface GuardParts {
  readonly database: Kysely<DatabaseSchema>;
  readonly log: Log;
}

const WHY = {
  jumped: (by: string) => `The clock of this machine jumped: it is ${by} of the time that has passed.`,
  off: (by: string) => `The clock of this machine is ${by} of the last time on record.`,
  database: (by: string) => `PostgreSQL's clock is ${by} of core's time.`,
} as const;

/** What an operator reads: what was found, that nothing is deleted meanwhile, and the way out. */
export function clockAlarm({ why, aheadMilliseconds }: ClockHold): string {
  const found = WHY[why](`${spanText(Math.abs(aheadMilliseconds))} ${aheadMilliseconds < 0 ? 'behind' : 'ahead'}`);
  const cure =
    why === 'database'
      ? 'Set the clock of its machine.'
      : 'Set the clock, or if it is right, run: ./platform clock accept';
  return `${found} Nothing is deleted by age until clocks agree. ${cure}`;
}

function spanText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
