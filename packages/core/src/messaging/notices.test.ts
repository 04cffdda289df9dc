// What arrives is a notification of the Messages app, once until it is read, and never says what was written.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Message, Notification } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import {
  friends,
  messagesPackage,
  nameOf,
  type Writer,
  writerOf,
  writerOfMessages,
} from '../../test-support/messaging.ts';
import { MESSAGES_APP } from './notice-queries.ts';

let world: Constellation;
let ada: Writer;
let ben: Writer;
before(async () => {
  world = await startConstellation({ systemPackages: [await messagesPackage()] });
  ada = await writerOf(world, 'ada');
  ben = await writerOfMessages(world, await registerAccount(world, 'ben'));
});
after(() => world.close());

const inbox = async () => {
  const answer = await ben.account.fetch('/v1/notifications');
  return (answer.json as { items: Notification[] }).items.filter(({ appId }) => appId === MESSAGES_APP);
};
const settled = () =>
  until('nothing to be noticed', async () => {
    const { rowCount } = await world.core.context.pool.query('SELECT FROM message_notices');
    return rowCount === 0;
  });

test('a request is one, messages are one until they are read, and none holds their words', async () => {
  const { id } = await ada.direct('ben');
  await ada.sent(id, 'the secret words');
  await settled();
  const [request, ...none] = await inbox();
  assert.deepEqual(none, []);
  assert.equal(request?.title, 'ada wants to write to you');
  const [conversation] = await ben.conversations();
  assert.equal(request?.presentation?.actions[0]?.target, `?conversation=${conversation?.id}`);
  await ben.act(conversation?.id ?? '', 'accept');
  const { items } = (await ben.call(`/conversations/${conversation?.id}/messages`)).json as { items: Message[] };
  await ben.call(`/conversations/${conversation?.id}/read`, { body: { messageId: items[0]?.id } });
  for (const body of ['more secrets', 'and more']) await ada.sent(id, body);
  await settled();
  const all = await inbox();
  assert.deepEqual(
    all.map(({ title }) => title),
    ['New message from ada', request?.title],
  );
  assert.ok(!JSON.stringify(all).includes('secret'));
  const {
    items: [newest],
  } = (await ben.call(`/conversations/${conversation?.id}/messages`)).json as { items: Message[] };
  await ben.call(`/conversations/${conversation?.id}/read`, { body: { messageId: newest?.id } });
  await ada.sent(id, 'later');
  await settled();
  assert.equal((await inbox()).length, 3);
});

test('who decides on a request or reads what was written has read the notification of it too', async () => {
  const unread = async () => (await inbox()).filter(({ readAt }) => readAt === null).map(({ title }) => title);
  const dan = await writerOf(world, 'dan');
  const { id } = await dan.direct('ben');
  await dan.sent(id, 'hello');
  await settled();
  const earlier = (await unread()).filter((title) => !title.startsWith('dan'));
  assert.deepEqual(await unread(), ['dan wants to write to you', ...earlier]);
  const own = (await ben.conversations()).find(({ state }) => state === 'request')?.id ?? '';
  await ben.act(own, 'accept');
  assert.deepEqual(await unread(), ['dan wants to write to you', ...earlier], 'it is not read yet');
  const read = async (place: number) => {
    const { items } = (await ben.call(`/conversations/${own}/messages`)).json as { items: Message[] };
    await ben.call(`/conversations/${own}/read`, { body: { messageId: items[place]?.id } });
  };
  await read(0);
  assert.deepEqual(await unread(), earlier);

  for (const body of ['one', 'two']) await dan.sent(id, body);
  await settled();
  assert.deepEqual(await unread(), ['New message from dan', ...earlier]);
  await read(1);
  assert.deepEqual(await unread(), ['New message from dan', ...earlier], 'one is left');
  await read(0);
  assert.deepEqual(await unread(), earlier, 'of no other conversation');

  const eve = await writerOf(world, 'eve');
  await eve.sent((await eve.direct('ben')).id, 'buy this');
  await settled();
  await ben.act((await ben.conversations()).find(({ state }) => state === 'request')?.id ?? '', 'block');
  assert.deepEqual(await unread(), earlier);
});

test('who does not have the Messages app is not notified, and own messages notify nobody', async () => {
  const before = (await inbox()).length;
  const cid = await writerOf(world, 'cid');
  await ada.account.fetch('/v1/apps/messages', { method: 'DELETE' });
  const [id] = await friends(cid, ada);
  await cid.sent(id, 'x');
  await settled();
  assert.deepEqual([nameOf(cid), (await inbox()).length], ['cid', before]);
});
