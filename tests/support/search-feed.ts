// Waits for what a search index elsewhere has been told.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type FeedStatus, feedStatus } from '@platform/core/search/manage-feed.ts';
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

/** Everything has been told, and the index elsewhere answers. */
export function feedTold(core: TestCore): Promise<void> {
  return untilFeed(core, 'everything is told', (status) => status?.state === 'ready' && status.waiting === 0);
}
