// Waits until an external search index has received its updates.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type FeedStatus, feedStatus } from '@platform/core/operator';
import type { TestCore } from './constellation.ts';

/** @throws AssertionError after half a minute */
export async function untilFeed(
  core: TestCore,
  what: string,
  holds: (status: FeedStatus | null) => boolean,
): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const status = await feedStatus(core.context);
    if (holds(status)) return;
    assert.ok(performance.now() < deadline, `waited in vain until ${what}: ${JSON.stringify(status)}`);
    await delay(5);
  }
}

/** Resolves once no updates are pending and the external index answers searches. */
export function untilFeedCaughtUp(core: TestCore): Promise<void> {
  return untilFeed(core, 'no updates are pending', (status) => status?.state === 'ready' && status.waiting === 0);
}
