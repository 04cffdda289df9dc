// `platform dev` over restarts of the platform: waits for it and goes on, and ends where it does not come back.
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from '@platform/core/start';
import { complain, paint, say } from '../terminal/terminal.ts';
import type { DevPlatform, DevTarget } from './target.ts';

const LOOK_MS = 500;
/** An update of the platform may take a while; whoever waits for longer has forgotten it. */
const PATIENCE_MS = 30 * 60_000;
/** Of a platform that answers, one after the other. */
const FAILURES_AT_MOST = 3;

/** What another moment can mend. Everything else that a command says is for its author to mend. */
const PASSING = new Set([
  'unavailable',
  'platform_starting',
  'platform_restarting',
  'platform_not_running',
  'platform_not_answering',
]);

/** Runs `work`, anew after each restart of the platform, until the signal aborts. */
export async function outlast(
  platform: DevPlatform,
  signal: AbortSignal,
  work: (target: DevTarget, until: AbortSignal) => Promise<void>,
): Promise<void> {
  let failures = 0;
  while (await returned(platform, signal)) {
    const life = platform.life();
    const stopped = new AbortController();
    const watch = setInterval(() => platform.life() !== life && stopped.abort(), LOOK_MS);
    const until = AbortSignal.any([signal, stopped.signal]);
    try {
      await platform.use((target) => work(target, until));
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StartError && !PASSING.has(error.code)) throw error;
      if (!until.aborted && (await platform.answers())) {
        failures += 1;
        if (failures === FAILURES_AT_MOST) throw error;
        await pause(signal);
      }
    } finally {
      clearInterval(watch);
    }
  }
}

/** @returns whether it is there; not when the signal aborted first */
async function returned(platform: DevPlatform, signal: AbortSignal): Promise<boolean> {
  const began = performance.now();
  for (let waits = false; !signal.aborted; ) {
    if (await platform.answers()) {
      if (waits) say(`${paint('green', '✓')} The platform answers again.`);
      return true;
    }
    if (!waits) complain(`The platform at ${platform.origin()} does not answer. Waiting for it; Ctrl-C ends this.`);
    waits = true;
    if (performance.now() - began > PATIENCE_MS)
      throw new StartError(
        'platform_gone',
        `${platform.origin()} has not answered for ${PATIENCE_MS / 60_000} minutes. Start the platform, then run this again.`,
      );
    await pause(signal);
  }
  return false;
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
}
