// What a signal means for the live streams of its account. A domain lists its emissions in `emits` of its domain.ts.
import type { ShellEvent } from '@platform/contract';
import type { SignalMap, SignalName } from '../database/signals.ts';
import type { AccountCaller } from '../http/caller.ts';

export type EventName = ShellEvent['event'];

type DataOf<Event extends EventName> = Extract<ShellEvent, { readonly event: Event }>['data'];

/** Signals about one account. */
export type AccountSignal = {
  [Name in SignalName]: SignalMap[Name] extends { readonly accountKey: string } ? Name : never;
}[SignalName];

type AccountKind = AccountCaller['kind'];

export interface StreamReader<Kind extends AccountKind = AccountKind> {
  readonly caller: Extract<AccountCaller, { readonly kind: Kind }>;
  /** The id of the last event that had one, or where the reader began. */
  readonly position: string;
}

export interface Sent<Data = object> {
  readonly data: Data;
  /** Where a reader that comes back goes on (`Last-Event-ID`). */
  readonly id?: string;
}

export interface EmissionOf<Name extends AccountSignal, Event extends EventName, Kind extends AccountKind> {
  readonly signal: Name;
  readonly event: Event;
  /** The kinds of callers whose streams send it. */
  readonly to: readonly Kind[];
  /** What is kept of a signal until the event is sent. Default: nothing, however often it comes. */
  holds?(data: SignalMap[Name]): readonly string[];
  /**
   * What there is for a reader, read as fast as the reader takes it: when its stream begins, and after signals. `held`
   * is what these had. Default: after a signal, or a new beginning of the reader, one event with the data `{}`.
   */
  read?(reader: StreamReader<Kind>, held: readonly string[]): AsyncIterable<Sent<DataOf<Event>>>;
  /** What a reader that comes back may have missed, besides what `read` gives. Default: nothing. */
  missed?(reader: StreamReader<Kind>): AsyncIterable<Sent<DataOf<Event>>>;
}

/** An emission whose signal is known at run time alone. */
export interface Emission {
  readonly signal: AccountSignal;
  readonly event: EventName;
  readonly to: readonly string[];
  holds?(data: object): readonly string[];
  read?(reader: StreamReader, held: readonly string[]): AsyncIterable<Sent>;
  missed?(reader: StreamReader): AsyncIterable<Sent>;
}

/** Needs `read` for an event that has data. */
type Whole<Name extends AccountSignal, Event extends EventName, Kind extends AccountKind> =
  Record<string, never> extends DataOf<Event>
    ? EmissionOf<Name, Event, Kind>
    : EmissionOf<Name, Event, Kind> & Required<Pick<EmissionOf<Name, Event, Kind>, 'read'>>;

/** Checks that signal, event, its data and its readers belong together. */
export function emission<Name extends AccountSignal, Event extends EventName, Kind extends AccountKind>(
  one: Whole<Name, Event, Kind> & { readonly signal: Name; readonly event: Event; readonly to: readonly Kind[] },
): Emission {
  // Its readers are of the kinds in `to`, which is what the streams go by.
  return one as unknown as Emission;
}
