// Whoever writes to somebody gets the same answers, whatever the other side did: all that they see is compared, step by step.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import type { RawAnswer } from '../../../../tests/support/raw-http.ts';
import { friends, nameOf, type Writer, writerOf } from '../../test-support/messaging.ts';
import { deleteAccount } from '../accounts/face.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world?.close());

/** What differs between any two pairs of people. */
const OWN = /^(?:id|conversationId|requestId|createdAt|lastMessageAt|sentAt|cursor|address|transportUserId|instance)$/;

function comparable({ status, json }: RawAnswer): unknown {
  return [status, JSON.parse(JSON.stringify(json, (key, value) => (OWN.test(key) ? typeof value : value)))];
}

/** All that a sender can do and look at. */
async function everythingOf(sender: Writer, other: string, id: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  const see = async (answer: Promise<RawAnswer>) => {
    const given = await answer;
    seen.push(comparable(given));
    return given;
  };
  const look = async () => {
    await see(sender.call('/conversations'));
    await see(sender.call(`/conversations/${id}/messages`));
    await see(sender.call(`/contacts/${other}`));
  };
  const direct = () => see(sender.call('/conversations/direct', { body: { to: other } }));
  const begun = (await see(sender.call('/sync', { body: {} }))).json as { cursor: string };
  for (let count = 0; count < 4; count += 1) await see(sender.send(id, `message ${count}`));
  for (const act of ['accept', 'decline'] as const) await see(sender.act(id, act));
  await direct();
  await look();
  for (const act of ['leave', 'block'] as const) {
    await see(sender.act(id, act));
    await direct();
    await see(sender.send(id, `after ${act}`));
  }
  await look();
  await see(sender.call('/sync', { body: { cursor: begun.cursor } }));
  return seen;
}

type Did = 'nothing' | 'read' | 'decline' | 'leave' | 'block';

async function seenWhen(did: Did, begin: 'request' | 'open'): Promise<unknown[]> {
  const sender = await writerOf(world, `sender-${begin}-${did}`);
  const other = await writerOf(world, `other-${begin}-${did}`);
  const id = begin === 'open' ? (await friends(sender, other))[0] : (await sender.direct(nameOf(other))).id;
  const first = await sender.sent(id, 'the first');
  const [theirs] = await other.conversations();
  assert.ok(theirs !== undefined && theirs.unread === 1);
  const [message] = ((await other.call(`/conversations/${theirs.id}/messages`)).json as { items: { id: string }[] })
    .items;
  if (did === 'read') await other.call(`/conversations/${theirs.id}/read`, { body: { messageId: message?.id } });
  else if (did !== 'nothing') assert.equal((await other.act(theirs.id, did)).status, 200);
  assert.notEqual(first.id, message?.id);
  return everythingOf(sender, nameOf(other), id);
}

test('to who asked it looks the same whether the other side waits, has read, declined, left or blocked', async () => {
  const usual = await seenWhen('nothing', 'request');
  for (const did of ['read', 'decline', 'leave', 'block'] as const)
    assert.deepEqual(await seenWhen(did, 'request'), usual, did);
});

test('and in a conversation that was accepted', async () => {
  const usual = await seenWhen('nothing', 'open');
  for (const did of ['read', 'leave', 'block'] as const) assert.deepEqual(await seenWhen(did, 'open'), usual, did);
});

test('a wait for news ends with the account', async () => {
  const reader = await writerOf(world, 'about-to-go');
  const { cursor } = await reader.sync();
  const waiting = reader.call('/sync', { body: { cursor, timeoutMs: 30_000 } });
  // A further call of the same reader is answered once the former one has begun to wait.
  const former = reader.call('/sync', { body: { cursor, timeoutMs: 30_000 } });
  await Promise.race([waiting, former]);
  await deleteAccount(world.core.context, { name: nameOf(reader) });
  const statuses = (await Promise.all([waiting, former])).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 401]);
});
