// Whether the account is paused, as this page knows it. Core decides; here it decides what is drawn.
import { signal } from '@preact/signals';
import { call } from '../api/client.ts';

/** Since when the account is paused, from core; `null` while it is not, `undefined` until the first answer. */
export const pausedAt = signal<string | null | undefined>(undefined);

/** Calls at the same time may be answered in any order: only the last one counts. */
let latest = 0;

/** @throws ApiError */
async function learn(ask: () => Promise<{ readonly pausedAt: string | null }>): Promise<void> {
  latest += 1;
  const mine = latest;
  const answer = await ask();
  if (mine === latest) pausedAt.value = answer.pausedAt;
}

/** Asks core; when it does not answer, what is not known counts as not paused, and core refuses what it has to. */
export async function readPause(): Promise<void> {
  try {
    await learn(() => call('runtime.read'));
  } catch {
    pausedAt.value ??= null;
  }
}

/** @throws ApiError */
export function pauseEverything(): Promise<void> {
  return learn(() => call('runtime.pause', { body: {} }));
}

/** @throws ApiError */
export function resumeEverything(): Promise<void> {
  return learn(() => call('runtime.resume', { body: {} }));
}
