// What an app reads when a grant is missing: which one, and who can give it where. Its author finds it in the log, its
// owner on the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Grant } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';

const NOTIFICATIONS = '/v1/services/notifications';

let world: Constellation;
let owner: TestAccount;
let notes: InstalledTestApp;
before(async () => {
  world = await startConstellation();
  owner = await registerAccount(world, 'note-taker');
  const requested = [
    { id: 'notifications.publish', resources: ['notes', 'reminders'] },
    { id: 'search.index', resources: ['self'] },
  ] as const satisfies Grant[];
  notes = await installTestApp(world, owner, 'my-notes', requested, { name: 'Notes' });
});
after(() => world.close());

function detailOf(answer: RawAnswer): string {
  assert.deepEqual([answer.status, problemCode(answer)], [403, 'grant_missing'], answer.text);
  const { detail, ...rest } = answer.json as { readonly detail: string };
  assert.deepEqual(Object.keys(rest).toSorted(), ['code', 'requestId', 'status', 'title', 'type']);
  return detail;
}

async function grant(...topics: string[]): Promise<void> {
  const permissions = topics.length === 0 ? [] : [{ id: 'notifications.publish', resources: topics }];
  const answer = await owner.fetch('/v1/apps/my-notes/permissions', { method: 'PUT', body: { permissions } });
  assert.equal(answer.status, 200, answer.text);
}

const publish = (topic: string) => notes.call(NOTIFICATIONS, { body: { topic, title: 'Saved' } });

test('a grant that the app requests and its owner turned off: where to allow it, to backend and page alike', async () => {
  await grant('reminders');
  const sentence =
    'Notes may not send you notifications on the topic "notes" (notifications.publish). ' +
    'You can allow it in Settings → Apps → Notes.';
  assert.equal(detailOf(await publish('notes')), sentence);
  const page = await notes.openFrontend();
  assert.equal(detailOf(await page.call(NOTIFICATIONS, { body: { topic: 'notes', title: 'Saved' } })), sentence);
  await grant();
  assert.equal(
    detailOf(await publish('notes')),
    'Notes may not send you notifications (notifications.publish). You can allow it in Settings → Apps → Notes.',
  );
  assert.equal(
    detailOf(await notes.call('/v1/services/search/index', { method: 'DELETE' })),
    'Notes may not add its items to your search (search.index). You can allow it in Settings → Apps → Notes.',
  );
});

test('a grant that the app does not request: nobody can allow it before its author asks for it', async () => {
  await grant('reminders');
  const remedy = 'Notes does not request it: its author can add it to `permissions` in manifest.json.';
  assert.equal(
    detailOf(await publish('news')),
    `Notes may not send you notifications on the topic "news" (notifications.publish). ${remedy}`,
  );
  assert.equal(
    detailOf(await notes.call(NOTIFICATIONS)),
    `Notes may not read and mark your notifications (notifications.read). ${remedy}`,
  );
});

test('the sentence is about this installation, whatever others of the same app were granted', async () => {
  const other = await registerAccount(world, 'neighbour');
  const same = await installTestApp(world, other, 'my-notes', [], {});
  assert.equal((await same.call(NOTIFICATIONS, { body: { topic: 'notes', title: 'Saved' } })).status, 201);
  await grant('reminders');
  assert.match(detailOf(await publish('notes')), /You can allow it in Settings → Apps → Notes\.$/);
});
