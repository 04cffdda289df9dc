// Requests in the course of time: how often one may ask, and when a declined one arrives again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, limits } from '@platform/contract';
import { startConstellation } from '../../../../tests/support/constellation.ts';
import { assertRefused, nameOf, type Writer, writerOf } from '../../test-support/messaging.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const DAY = 86_400_000;

const conversationOf = async (writer: Writer, id: string): Promise<Conversation | undefined> =>
  (await writer.conversations()).find((one) => one.id === id);

test('who declined is asked again after 30 days and not before; who blocked never is', async (context) => {
  let now = START;
  for (const act of ['decline', 'block'] as const) {
    const world = await startConstellation({ clock: () => new Date(now) });
    context.after(() => world.close());
    const [ada, ben] = [await writerOf(world, 'ada'), await writerOf(world, 'ben')];
    const { id } = await ada.direct(nameOf(ben));
    const [request] = await ben.conversations();
    await ben.act(request?.id ?? '', act);
    now += 29 * DAY;
    await ada.direct(nameOf(ben));
    assert.equal((await conversationOf(ben, request?.id ?? ''))?.state, 'left');
    now += 2 * DAY;
    await ada.direct(nameOf(ben));
    assert.equal((await conversationOf(ben, request?.id ?? ''))?.state, act === 'decline' ? 'request' : 'left');
    await ada.sent(id, 'again');
    assert.deepEqual(await ben.bodies(request?.id ?? ''), act === 'decline' ? ['again'] : []);
  }
});

test('an account writes to 20 new people a day', async (context) => {
  let now = START;
  const world = await startConstellation({ clock: () => new Date(now) });
  context.after(() => world.close());
  const ada = await writerOf(world, 'ada');
  const names: string[] = [];
  for (let index = 0; index <= limits.messagingRequests.value; index += 1) {
    const other = await writerOf(world, `other-x${index}`);
    names.push(nameOf(other));
  }
  const last = names.pop() ?? '';
  for (const name of names) await ada.direct(name);
  const refused = await ada.call('/conversations/direct', { body: { to: last } });
  assertRefused(refused, 429, 'rate_limited');
  await ada.direct(names[0] ?? '');
  now += DAY + 1;
  assert.equal((await ada.direct(last)).state, 'requested');
});
