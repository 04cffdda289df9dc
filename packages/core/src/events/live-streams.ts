// The live streams that are open on this replica: how many there may be, which signals concern them, and when they end.
import { limits, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { AccountCaller } from '../http/caller.ts';
import type { Emission } from './emission.ts';

/** A live stream, as seen from here. Each method returns at once. */
export interface Listener {
  readonly caller: AccountCaller;
  /** A signal of its account came that is for callers of its kind. Default: it is for none. */
  receive?(emission: Emission, data: object): void;
  end(): void;
}

export class LiveStreams {
  readonly #context: Pick<CoreContext, 'signals' | 'callers'>;
  readonly #byAccount = new Map<string, Set<Listener>>();
  readonly #bySubject = new Map<string, number>();
  #emissions: readonly Emission[] = [];

  constructor(context: Pick<CoreContext, 'signals' | 'stopping' | 'callers'>) {
    const { signals, stopping } = context;
    this.#context = context;
    stopping.addEventListener('abort', () => this.endAll());
    // Without signals revocations would be missed: streams end, and clients reconnect once signals arrive again.
    signals.onReset(() => {
      if (!signals.connected) this.endAll();
    });
  }

  /** Called once, when the domains are there. */
  follow(emissions: readonly Emission[]): void {
    this.#emissions = emissions;
    for (const emission of emissions)
      this.#context.signals.on(emission.signal, (data) => {
        for (const one of [...(this.#byAccount.get(data.accountKey) ?? [])])
          if (emission.to.includes(one.caller.kind)) one.receive?.(emission, data);
      });
  }

  /** What streams of this caller send. */
  emissionsFor({ kind }: AccountCaller): readonly Emission[] {
    return this.#emissions.filter(({ to }) => to.includes(kind));
  }

  /**
   * Adds a listener, which receives the signals for its caller until `leave` is called, and is ended with its caller.
   *
   * @throws RefusalError `concurrency_limited` beyond `limits.eventStreams` or, for an app, `limits.appEventStreams`;
   *   `unavailable` while signals are not received
   */
  join(listener: Listener): { leave(): void } {
    const { signals, callers } = this.#context;
    const { caller } = listener;
    if (!signals.connected) throw refuse('unavailable', undefined, { retryAfter: 2 });
    const subject = callers.subjectOf(caller) ?? '';
    const streams = this.#bySubject.get(subject) ?? 0;
    if (streams >= limits.eventStreams.value)
      throw refuse('concurrency_limited', `At most ${limits.eventStreams.value} live streams may be open.`, {
        retryAfter: 10,
      });
    const listeners = this.#byAccount.get(caller.accountKey) ?? new Set();
    if ('installationId' in caller) requireRoomForApp(listeners);
    this.#bySubject.set(subject, streams + 1);
    this.#byAccount.set(caller.accountKey, listeners.add(listener));
    const off = callers.onEnd(caller, () => listener.end());
    return {
      leave: () => {
        off();
        this.#leave(listener, subject);
      },
    };
  }

  /** Live streams that are open now. */
  get size(): number {
    return [...this.#bySubject.values()].reduce((sum, streams) => sum + streams, 0);
  }

  endAll(): void {
    for (const listeners of [...this.#byAccount.values()]) for (const listener of [...listeners]) listener.end();
  }

  #leave(listener: Listener, subject: string): void {
    const { accountKey } = listener.caller;
    const listeners = this.#byAccount.get(accountKey);
    if (listeners?.delete(listener) !== true) return;
    if (listeners.size === 0) this.#byAccount.delete(accountKey);
    const left = (this.#bySubject.get(subject) ?? 1) - 1;
    if (left === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, left);
  }
}

/** Each of them reads the database for every notification of the account. Those of the shell do not count. */
function requireRoomForApp(listeners: ReadonlySet<Listener>): void {
  const open = [...listeners].filter(({ caller }) => 'installationId' in caller).length;
  if (open >= limits.appEventStreams.value)
    throw refuse(
      'concurrency_limited',
      `At most ${limits.appEventStreams.value} live streams of all apps of this account may be open.`,
      { retryAfter: 10 },
    );
}
