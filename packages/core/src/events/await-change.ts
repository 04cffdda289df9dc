// Long polls: a request that waits until there is news. While nothing happens it costs no query, only its place here.
import type { CoreContext } from '../context.ts';
import type { SignalName } from '../database/signals.ts';
import type { Caller } from '../http/caller.ts';
import { Wake } from './wake.ts';

/** After which there may be news. */
export interface WakingSignal {
  readonly signal: SignalName;
  /** Only after those whose data has this value: all others then cost this wait nothing. Default: after each. */
  readonly about?: { readonly member: string; readonly value: string };
}

export interface Waiting<Who extends Caller, Value> {
  /** The call that waits, or what it knows of itself. */
  readonly call: {
    readonly caller: Who;
    readonly left: AbortSignal;
    readonly stillAllowed: () => Promise<Who>;
  };
  readonly wakeOn: readonly WakingSignal[];
  /** Hands on what to call when there may be news without a signal. */
  readonly wakeBy?: (wake: () => void) => void;
  readonly longestMilliseconds: number;
  /** Ends the wait early. Default: nothing does. */
  readonly over?: AbortSignal;
  /** Reads what there is for the caller as it is now: at the beginning, and after each of the signals. */
  read(caller: Who): Promise<Value>;
  /** Whether it is worth an answer. */
  isNews(value: Value): boolean;
}

/**
 * Resolves with what was read as soon as that is news, or as it is when the wait ends: after the longest time, by `over`, when core
 * stops, when the client disconnected, or when a signal changed what the caller may do.
 *
 * @throws what `read` does, and `stillAllowed` for a caller that ended before or meanwhile
 */
export async function awaitChange<Who extends Caller, Value>(
  { signals, callers, stopping }: Pick<CoreContext, 'signals' | 'callers' | 'stopping'>,
  { call, wakeOn, wakeBy, longestMilliseconds, over: given, read, isNews }: Waiting<Who, Value>,
): Promise<Value> {
  const { caller, left, stillAllowed } = call;
  const wake = new Wake();
  let over = stopping.aborted || left.aborted;
  let callerEnded = false;
  let signalsMissed = false;
  const end = () => {
    over = true;
    wake.wake();
  };
  // Listening starts before reading, so that a change in between is not slept through.
  const offs = [
    ...wakeOn.map(({ signal, about }) =>
      about === undefined
        ? signals.on(signal, wake.wake)
        : signals.onAbout(signal, about.member, about.value, wake.wake),
    ),
    signals.onReset(() => {
      signalsMissed = true;
      wake.wake();
    }),
    callers.onEnd(caller, () => {
      callerEnded = true;
      end();
    }),
  ];
  wakeBy?.(wake.wake);
  const timer = setTimeout(end, longestMilliseconds);
  stopping.addEventListener('abort', end);
  left.addEventListener('abort', end);
  given?.addEventListener('abort', end);
  try {
    // It may have ended before anybody listened here.
    let current = await stillAllowed();
    while (!callerEnded) {
      const value = await read(current);
      if (callerEnded) break;
      if (over || isNews(value)) return value;
      await wake.next();
      if (callerEnded) break;
      // Nothing happened since it was read.
      if (over && signals.connected) return value;
      if (signalsMissed) {
        signalsMissed = false;
        current = await stillAllowed();
      }
    }
    return await read(await stillAllowed());
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', end);
    left.removeEventListener('abort', end);
    given?.removeEventListener('abort', end);
    for (const off of offs) off();
  }
}
