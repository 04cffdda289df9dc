// Two accounts write to each other: requests, what arrives, what does not and is not said, ids, pages, reading, and ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Conversation, limits, type Message, type MessagingIdentity } from '@platform/contract';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { databaseText } from '../../test-support/database-sweep.ts';
import { assertRefused, friends, nameOf, type Writer, writerOf, writerOn } from '../../test-support/messaging.ts';
import { deleteAccount } from '../accounts/face.ts';

const SERVER = 'shell.platform.localhost';
const NOW = '2026-11-21T10:00:00.000Z';

let world: Constellation;
let count = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(NOW) });
});
after(() => world.close());

/** A new account for each, since what one did stays. */
async function writers(): Promise<readonly [Writer, Writer]> {
  count += 1;
  return [await writerOf(world, `ada-${count}`), await writerOf(world, `ben-${count}`)];
}

const conversationOf = async (writer: Writer, id: string): Promise<Conversation | undefined> =>
  (await writer.conversations()).find((one) => one.id === id);

test('an identity is the same at every call, and an address in any form names the same account', async () => {
  const [ada, ben] = await writers();
  const identity = {
    address: `${nameOf(ada)}@${SERVER}`,
    transportUserId: `@${nameOf(ada)}:${SERVER}`,
    transport: 'bundled',
    provisioned: true,
  };
  for (const _ of [1, 2]) {
    const answer = await ada.call('/identity');
    assert.deepEqual((answer.json as { identity: MessagingIdentity }).identity, identity);
  }
  const { provisioned: _, transport: __, ...contact } = identity;
  const name = nameOf(ada);
  for (const form of [name, name.toUpperCase(), ` ${name} `, `${name}@${SERVER.toUpperCase()}`, `@${name}:${SERVER}`]) {
    const answer = await ben.call(`/contacts/${encodeURIComponent(form)}`);
    assert.deepEqual(answer.json, { contact: { ...contact, external: false } }, form);
  }
  for (const nobody of [
    'nobody-here',
    'x@example.org',
    '@x:example.org',
    `@${name}`,
    'a b',
    'admin',
    `${name}@`,
    '@:x',
  ])
    assertRefused(await ben.call(`/contacts/${encodeURIComponent(nobody)}`), 404, 'not_found');
});

test('a request arrives, is accepted, and both write; each side sees its own unread count', async () => {
  const [ada, ben] = await writers();
  const opened = await ada.call('/conversations/direct', { body: { to: nameOf(ben) } });
  assert.equal(opened.status, 201, opened.text);
  const { conversation } = opened.json as { conversation: Conversation };
  assert.deepEqual(conversation, {
    id: conversation.id,
    kind: 'direct',
    transport: 'bundled',
    participants: [{ address: `${nameOf(ben)}@${SERVER}`, transportUserId: `@${nameOf(ben)}:${SERVER}` }],
    state: 'requested',
    unread: 0,
    createdAt: NOW,
    lastMessageAt: null,
    encrypted: true,
  });
  const message = await ada.sent(conversation.id, 'Hello Ben');
  assert.deepEqual(message, {
    id: message.id,
    conversationId: conversation.id,
    sender: { address: `${nameOf(ada)}@${SERVER}` },
    body: 'Hello Ben',
    kind: 'text',
    sentAt: NOW,
  });
  const [request] = await ben.conversations();
  assert.ok(request !== undefined);
  assert.deepEqual(
    [request.state, request.unread, request.participants[0]?.address],
    ['request', 1, `${nameOf(ada)}@${SERVER}`],
  );
  assertRefused(await ben.send(request.id, 'not yet'), 409, 'conversation_conflict');
  assertRefused(await ada.act(conversation.id, 'accept'), 409, 'conversation_conflict');
  const accepted = await ben.act(request.id, 'accept');
  assert.equal((accepted.json as { conversation: Conversation }).conversation.state, 'open');
  assert.equal((await conversationOf(ada, conversation.id))?.state, 'open');
  await ben.sent(request.id, 'Hello Ada');
  assert.deepEqual(await ada.bodies(conversation.id), ['Hello Ada', 'Hello Ben']);
  assert.deepEqual(await ben.bodies(request.id), ['Hello Ada', 'Hello Ben']);
  assert.equal((await conversationOf(ada, conversation.id))?.unread, 1);
  const [newest] = ((await ada.call(`/conversations/${conversation.id}/messages`)).json as { items: Message[] }).items;
  const read = await ada.call(`/conversations/${conversation.id}/read`, { body: { messageId: newest?.id } });
  assert.equal((read.json as { conversation: Conversation }).conversation.unread, 0);
  assert.equal((await conversationOf(ben, request.id))?.unread, 1);
});

test('both sides that open it at once have one conversation, which is open', async () => {
  const [ada, ben] = await writers();
  const answers = await Promise.all([
    ada.call('/conversations/direct', { body: { to: nameOf(ben) } }),
    ben.call('/conversations/direct', { body: { to: nameOf(ada) } }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 201]);
  for (const one of [ada, ben])
    assert.deepEqual(
      (await one.conversations()).map(({ state }) => state),
      ['open'],
    );
});

test('the fourth message before an answer is refused, whether the other side waits, declined or blocked', async () => {
  for (const act of [null, 'decline', 'block', 'leave'] as const) {
    const [ada, ben] = await writers();
    const { id } = await ada.direct(nameOf(ben));
    const [request] = await ben.conversations();
    if (act !== null) await ben.act(request?.id ?? '', act);
    for (const body of ['1', '2', '3']) await ada.sent(id, body);
    assertRefused(await ada.send(id, '4'), 409, 'conversation_conflict');
    assert.equal((await ada.direct(nameOf(ben))).state, 'requested');
    const side = await conversationOf(ben, request?.id ?? '');
    assert.deepEqual([side?.state, side?.unread], act === null ? ['request', 3] : ['left', 0], String(act));
    assert.deepEqual(await ben.bodies(request?.id ?? ''), act === null ? ['3', '2', '1'] : []);
  }
});

test('who left or blocked receives nothing until they open it again, and the other side learns nothing', async () => {
  for (const act of ['leave', 'block'] as const) {
    const [ada, ben] = await writers();
    const [a, b] = await friends(ada, ben);
    const left = await ben.act(b, act);
    assert.equal((left.json as { conversation: Conversation }).conversation.state, 'left');
    const message = await ada.send(a, 'lost');
    assert.equal(message.status, 201);
    assert.equal((await conversationOf(ada, a))?.state, 'open');
    assert.deepEqual(await ben.bodies(b), []);
    assertRefused(await ben.send(b, 'no'), 409, 'conversation_conflict');
    assert.equal((await ben.direct(nameOf(ada))).state, 'open');
    await ada.sent(a, 'arrives');
    assert.deepEqual(await ben.bodies(b), ['arrives']);
    assert.deepEqual(await ada.bodies(a), ['arrives', 'lost']);
  }
});

test('a transactionId is one message: repeated it answers the same, with other words or elsewhere it is a conflict', async () => {
  const [ada, ben] = await writers();
  const [a] = await friends(ada, ben);
  const cid = await writerOf(world, `cid-${count}`);
  const [other] = await friends(ada, cid);
  const first = await ada.send(a, 'once', 'tx');
  assert.equal(first.status, 201);
  const again = await ada.send(a, 'once', 'tx');
  assert.deepEqual([again.status, again.json], [200, first.json]);
  assertRefused(await ada.send(a, 'twice', 'tx'), 409, 'conversation_conflict');
  assertRefused(await ada.send(other, 'once', 'tx'), 409, 'conversation_conflict');
  const at = await Promise.all(Array.from({ length: 8 }, () => ada.send(a, 'at once', 'tx2')));
  assert.deepEqual(at.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
  assert.deepEqual(await ada.bodies(a), ['at once', 'once']);
  const second = await writerOn(world, ada.account, `second-${count}`);
  const [same] = (await second.conversations()).filter(({ participants }) =>
    participants[0]?.address.startsWith(nameOf(ben)),
  );
  assert.equal((await second.send(same?.id ?? '', 'from another app', 'tx')).status, 201);
});

test('ids belong to one installation: those of another app, of the same account or another, name nothing', async () => {
  const [ada, ben] = await writers();
  const [a, b] = await friends(ada, ben);
  const message = await ada.sent(a, 'mine');
  const second = await writerOn(world, ada.account, `other-${count}`);
  const [own] = await second.conversations();
  assert.notEqual(own?.id, a);
  for (const [writer, id] of [
    [second, a],
    [ben, a],
    [ada, b],
    [ada, 'conv-x'],
    [ada, a.toUpperCase()],
    [ada, a.replace('conv-', 'msg-')],
    [ada, `${a}=`],
    [ada, message.id],
  ] as const) {
    assertRefused(await writer.call(`/conversations/${id}/messages`), 404, 'not_found');
    assertRefused(await writer.send(id, 'x'), 404, 'not_found');
    assertRefused(await writer.act(id, 'block'), 404, 'not_found');
  }
  const read = await second.call(`/conversations/${own?.id}/read`, { body: { messageId: message.id } });
  assertRefused(read, 404, 'not_found');
  assert.deepEqual(await second.bodies(own?.id ?? ''), ['mine']);
});

test('bad words are refused and change nothing', async () => {
  const [ada, ben] = await writers();
  const [a] = await friends(ada, ben);
  const most = limits.messageBody.value;
  for (const body of ['', 'a\0b', '\ud800', 'x\udc00y', 'x'.repeat(most + 1)])
    assertRefused(await ada.send(a, body), 400, 'invalid_request');
  for (const transactionId of ['', 'x'.repeat(129), 'a\0'])
    assertRefused(await ada.send(a, 'x', transactionId), 400, 'invalid_request');
  assertRefused(await ada.call('/conversations/direct', { body: { to: nameOf(ada) } }), 400, 'invalid_request');
  assertRefused(await ada.call('/conversations/direct', { body: { to: 'nobody-there' } }), 404, 'not_found');
  assertRefused(await ada.call('/conversations/direct', { body: { to: '' } }), 400, 'invalid_request');
  assert.deepEqual(await ada.bodies(a), []);
  await ada.sent(a, '👋'.repeat(most));
  assert.deepEqual(await ben.bodies((await ben.conversations())[0]?.id ?? ''), ['👋'.repeat(most)]);
});

test('pages have every message once, and every conversation also while they move', async () => {
  const [ada, ben] = await writers();
  const [a, b] = await friends(ada, ben);
  const wanted = Array.from({ length: 7 }, (_, index) => `message ${index}`);
  for (const body of wanted) await (Number(body.slice(-1)) % 2 === 0 ? ada.sent(a, body) : ben.sent(b, body));
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const answer = await ada.call(`/conversations/${a}/messages?limit=2${query}`);
    const page = answer.json as { items: Message[]; nextCursor: string | null };
    seen.push(...page.items.map(({ body }) => body));
    await ben.sent(b, 'arrives meanwhile');
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(seen, wanted.toReversed());
  const others: Writer[] = [];
  for (let index = 0; index < 4; index += 1) others.push(await writerOf(world, `page-${count}-x${index}`));
  for (const other of others) await friends(ada, other);
  const found = new Set<string>();
  cursor = null;
  let pages = 0;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const answer = await ada.call(`/conversations?limit=2${query}`);
    const page = answer.json as { items: Conversation[]; nextCursor: string | null };
    for (const { participants } of page.items) found.add(participants[0]?.address ?? '');
    // The one at the end of the list moves to its beginning.
    if (pages === 0) await ben.sent(b, 'up');
    pages += 1;
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.equal(found.size, 5);
});

test('bodies are sealed, and a row that is copied to another conversation opens nothing', async () => {
  const [ada, ben] = await writers();
  const [a] = await friends(ada, ben);
  await ada.sent(a, 'nobody reads this in the database');
  assert.ok(!(await databaseText(world.core.context.pool)).includes('nobody reads this'));
  const cid = await writerOf(world, `cid-${count}`);
  const [other] = await friends(ada, cid);
  await ada.sent(other, 'something else');
  const { rowCount } = await world.core.context.pool.query(
    `UPDATE conversation_messages AS one SET sealed = other.sealed FROM conversation_messages AS other
      WHERE one.installation_id = $1 AND other.installation_id = $1 AND one.id <> other.id`,
    [ada.app.installationId],
  );
  assert.equal(rowCount, 2);
  for (const id of [a, other]) assert.equal((await ada.call(`/conversations/${id}/messages`)).status, 500);
});

test('a deleted account takes its side with it; the other keeps what it received', async () => {
  const [ada, ben] = await writers();
  const [a, b] = await friends(ada, ben);
  await ada.sent(a, 'from Ada');
  await ben.act(b, 'leave');
  await ada.sent(a, 'never arrived');
  await ben.direct(nameOf(ada));
  await ben.sent(b, 'from Ben');
  await deleteAccount(world.core.context, { name: nameOf(ada) });
  const [left] = await ben.conversations();
  assert.deepEqual(left?.participants, [{ address: 'deleted account' }]);
  const { items } = (await ben.call(`/conversations/${b}/messages`)).json as { items: Message[] };
  assert.deepEqual(
    items.map(({ body, sender }) => [body, sender.address]),
    [
      ['from Ben', `${nameOf(ben)}@${SERVER}`],
      ['from Ada', 'deleted account'],
    ],
  );
  assertRefused(await ben.send(b, 'x'), 409, 'conversation_conflict');
  await deleteAccount(world.core.context, { name: nameOf(ben) });
  const { rows } = await world.core.context.pool.query(
    `SELECT id FROM conversations WHERE low_key NOT IN (SELECT key FROM accounts) AND high_key NOT IN (SELECT key FROM accounts)`,
  );
  assert.deepEqual(rows, []);
});
