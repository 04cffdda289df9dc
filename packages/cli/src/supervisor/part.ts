// The seam of the supervisor: what a part of the platform is, a process that `platform start` runs. A part is a file in
// parts/ and one line in parts/table.ts; starting and ending it, its ports, the greeting, metrics, `platform ps`, `platform
// doctor` and the platform of the tests follow from what is declared here.
import type { PlatformConfig } from '@platform/core/config';
import type { PlannedListener } from '../process/listeners.ts';
import type { Running } from './kept-part.ts';

/**
 * What to do where something is missing that the database or the data folder knows of: refuse to start, take this for a first
 * start, or go on as the node that this machine was under another key (docs/decisions/absence.md).
 */
export type Absence = 'refuse' | 'new' | 'adopt';

/** What a part may know of the platform at its start. Parts before it in the table run by then. */
export interface StartingPlatform {
  readonly config: PlatformConfig;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly absence: Absence;
  /** What a part said when it first served; `null` where it is not configured. */
  reportOf<Report>(part: Part<string, Report>): Report | null;
}

interface PartBase<Name extends string, Report> {
  /** For people, in messages and `platform ps`; in lower case, the label `part` of its metrics. Unique in the table. */
  readonly name: Name;
  /** Whether it runs under this configuration. Its program is loaded before that is known, and ended where it does not. */
  isConfigured(config: PlatformConfig): boolean;
  /** Parts that have to run whenever this one starts, after a crash too. They stand before it in the table. */
  readonly needs?: readonly Part[];
  /** Where it listens on this machine, where it is configured. Default: nowhere. */
  listeners?(config: PlatformConfig): readonly PlannedListener[];
  /** What a start says of it, also where it is not configured. Default: nothing. */
  greeting?(about: { readonly config: PlatformConfig; readonly report: Report | null }): PartGreeting;
}

/** A part with a program of ours, which calls `runPart`: it is configured, pinged, measured and ended over its channel. */
export interface ProgramPart<Name extends string = string, Report = unknown, Order = unknown>
  extends PartBase<Name, Report> {
  readonly program: URL;
  /** Variables that its process does not inherit. Default: those of the platform and of libpq, which may hold a password. */
  readonly withheld?: RegExp;
  /** Milliseconds between pings; six without an answer end and restart it. Default: 5,000. */
  readonly pingEvery?: number;
  /** What it gets over its channel at each start, made once. @throws StartError when the platform cannot start */
  order(platform: StartingPlatform): Promise<Order>;
}

/** A part whose program is not ours, PostgreSQL: it has no channel, so it is neither pinged nor measured. */
export interface ServerPart<Name extends string = string, Report = unknown> extends PartBase<Name, Report> {
  /** Resolves when it serves. @throws StartError when it does not come to that */
  start(platform: StartingPlatform): Promise<Running & { readonly report: Report }>;
}

export type Part<Name extends string = string, Report = unknown> = ProgramPart<Name, Report> | ServerPart<Name, Report>;

export interface PartGreeting {
  /** What the operator should know, a line each. */
  readonly notices?: readonly string[];
  /** In red. */
  readonly warnings?: readonly string[];
  /** How it runs here. */
  readonly facts?: readonly GreetingEntry[];
  /** Where it is reached, after the listeners. */
  readonly addresses?: readonly GreetingEntry[];
}

export interface GreetingEntry {
  /** At most twelve characters; empty continues the entry before. */
  readonly label: string;
  readonly value: string;
  /** Shown with `--verbose` only. Default: always. */
  readonly isDetail?: boolean;
}
