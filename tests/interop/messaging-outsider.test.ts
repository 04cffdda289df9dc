// A Matrix account elsewhere, over two federating homeservers, with an access token and no scruples: what its own server lets it send.
// Also what the homeserver itself is asked for: that an account is no more, and what was read with another client.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type MessagingBridgeNotices, messagingBridgeNoticesAnswer } from '@platform/contract';
import { type BridgeWorld, startBridgeWorld } from '../support/bridge-world.ts';
import type { MatrixClient } from '../support/matrix-client.ts';
import { type Synapse, synapsePackages } from '../support/synapse.ts';
import { membershipOf } from '../support/synapse-rows.ts';
import { STORY_MS, until } from '../support/wait.ts';

const packages = await synapsePackages();
const skip = packages === null && 'needs Python with venv, and a package index';

/** Asks a homeserver as a client does. */
async function ask(server: Synapse, token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${server.origin}/_matrix/client/v3${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function tokenOf(server: Synapse, client: MatrixClient): Promise<string> {
  const user = client.userId.slice(1, client.userId.indexOf(':'));
  const login = { type: 'm.login.password', identifier: { type: 'm.id.user', user }, password: 'only-of-tests' };
  return String((await ask(server, '', 'POST', '/login', login)).json.access_token);
}

suite('an outsider over Matrix', { skip, timeout: STORY_MS }, () => {
  let world: BridgeWorld;
  before(async () => {
    world = await startBridgeWorld(packages ?? '');
  });
  after(() => world?.close());

  async function notices(cursor?: string): Promise<MessagingBridgeNotices> {
    const { listen, token } = world.options;
    const input = { timeoutMs: 10_000, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const response = await fetch(`http://${listen.host}:${listen.port}/v1/platform-messaging`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ version: 1, operation: 'notices', input }),
    });
    return messagingBridgeNoticesAnswer.parse(await response.json()).result;
  }

  /** Until one is of this account and fits; core keeps all before it. */
  async function noticeOf(accountId: string, fits: (one: MessagingBridgeNotices['notices'][number]) => boolean) {
    let cursor: string | undefined;
    return until(
      'the notice',
      async () => {
        const answer = await notices(cursor);
        cursor = answer.cursor;
        return answer.notices.find((one) => one.accountId === accountId && fits(one));
      },
      60_000,
    );
  }

  test('whatever their server lets them send, the account writes and reads as before, and what it wrote stays', async () => {
    const { away, home } = world;
    const ada = world.person('ada');
    const mallory = await world.stranger('mallory');
    const yan = await world.stranger('yan');
    const token = await tokenOf(away, mallory);
    const send = (path: string, body: object, method = 'PUT') => ask(away, token, method, path, body);
    await ada.ask('identity', {});
    const honest = (await ada.ask('direct', { to: yan.userId })).conversation.id;
    const friends = await yan.invitedBy(ada.userId);
    await yan.do('join', { room: friends });
    const { room } = (await mallory.do('create', { to: ada.userId })) as { room: string };
    const { id } = await ada.conversationWith(mallory.userId, 'request');
    await ada.ask('accept', { conversationId: id });
    const own = await ada.ask('send', { conversationId: id, transactionId: 'own', message: { body: 'mine' } });
    await mallory.receives('mine');
    const at = `/rooms/${encodeURIComponent(room)}`;
    const statuses: [string, number][] = [];
    const tried = async (name: string, path: string, body: object, method?: string) => {
      statuses.push([name, (await send(path, body, method)).status]);
    };
    const megolm = { algorithm: 'm.megolm.v1.aes-sha2', session_id: 'x', sender_key: 'x', device_id: 'x' };
    await tried('malformed', `${at}/send/m.room.encrypted/1`, { ...megolm, ciphertext: 7 });
    await tried('62 KiB', `${at}/send/m.room.encrypted/2`, { ...megolm, ciphertext: 'x'.repeat(62_000) });
    await tried('plain', `${at}/send/m.room.message/3`, { msgtype: 'm.text', body: 'canary' });
    await tried('edit', `${at}/send/m.room.message/4`, {
      msgtype: 'm.text',
      body: '* canary',
      'm.new_content': { msgtype: 'm.text', body: 'canary' },
      'm.relates_to': { rel_type: 'm.replace', event_id: own.message.id },
    });
    await tried('redaction', `${at}/redact/${encodeURIComponent(own.message.id)}/5`, {});
    await tried('name', `${at}/state/m.room.member/${encodeURIComponent(mallory.userId)}`, {
      membership: 'join',
      displayname: '\u202ecanary'.repeat(500),
    });
    await tried('wrong state', `${at}/state/m.room.encryption`, { algorithm: 'none' });
    await tried('wrong tombstone', `${at}/state/m.room.tombstone`, { replacement_room: 7 });
    for (const replacement of [room, friends])
      await tried('tombstone', `${at}/state/m.room.tombstone`, { body: 'x', replacement_room: replacement });
    await tried('server acl', `${at}/state/m.room.server_acl`, { allow: [away.serverName], deny: [home.serverName] });
    for (let number = 0; number < 20; number += 1) {
      const body = { invite: [ada.userId], is_direct: true, preset: 'private_chat' };
      await tried('room', '/createRoom', body, 'POST');
    }
    const toAda = { messages: { [ada.userId]: { '*': { algorithm: 7, action: 'request', request_id: {} } } } };
    for (const type of ['m.room.encrypted', 'm.room_key', 'm.room_key_request', 'm.key.verification.request'])
      await tried(type, `/sendToDevice/${type}/${type}`, toAda);
    for (let number = 0; number < 10; number += 1)
      await tried(
        'device',
        '/login',
        {
          type: 'm.login.password',
          identifier: { type: 'm.id.user', user: 'mallory' },
          password: 'only-of-tests',
        },
        'POST',
      );
    assert.ok(statuses.filter(([, status]) => status === 200).length > 30, JSON.stringify(statuses));

    await yan.do('send', { room: friends, body: 'from a friend' });
    assert.equal((await ada.receives('from a friend')).conversationId, honest);
    await ada.ask('send', { conversationId: honest, transactionId: 'after', message: { body: 'to a friend' } });
    await yan.receives('to a friend');
    const { messages } = await ada.ask('messages', { conversationId: id, limit: 100 });
    assert.equal(messages.filter(({ body }) => body === 'mine').length, 1);
    assert.ok(!JSON.stringify(messages).includes('"canary'));
    const { conversations } = await ada.ask('conversations', { limit: 100 });
    assert.equal(conversations.length, 2);
  });

  test('what was read with another Matrix client of the account is said to core at once', async () => {
    const { home, options } = world;
    const ben = world.person('ben');
    const zoe = await world.stranger('zoe');
    const { conversation } = await ben.ask('direct', { to: zoe.userId });
    const room = await zoe.invitedBy(ben.userId);
    await zoe.do('join', { room });
    await ben.conversationWith(zoe.userId, 'open');
    await zoe.do('send', { room, body: 'to be read elsewhere' });
    const message = await ben.receives('to be read elsewhere');
    await noticeOf(ben.accountId, (one) => one.conversation.unread === 1);
    const as = `?user_id=${encodeURIComponent(ben.userId)}`;
    const path = `/rooms/${encodeURIComponent(room)}/receipt/m.read/${encodeURIComponent(message.id)}${as}`;
    assert.equal((await ask(home, options.registration.asToken, 'POST', path, {})).status, 200);
    const read = await noticeOf(ben.accountId, (one) => one.conversation.unread === 0);
    assert.equal(read.conversation.id, conversation.id);
  });

  test('an account that is forgotten is in no room, has no device, and nobody can invite it', async () => {
    const { home, away, options } = world;
    const cleo = world.person('cleo');
    const zac = await world.stranger('zac');
    const wim = await world.stranger('wim');
    await cleo.ask('direct', { to: zac.userId });
    const room = await zac.invitedBy(cleo.userId);
    await zac.do('join', { room });
    await cleo.conversationWith(zac.userId, 'open');
    const asked = (await wim.do('create', { to: cleo.userId })) as { room: string };
    await cleo.conversationWith(wim.userId, 'request');
    await cleo.ask('forget', {});
    await until('the rooms to be left', async () => (await membershipOf(away, room, cleo.userId)) === 'leave', 60_000);
    await until('the invitation', async () => (await membershipOf(away, asked.room, cleo.userId)) === 'leave', 60_000);
    const devices = await home.database.rows('SELECT 1 FROM devices WHERE user_id = ? AND NOT hidden', cleo.userId);
    assert.deepEqual(devices, []);
    const path = `/profile/${encodeURIComponent(cleo.userId)}`;
    assert.equal((await ask(home, options.registration.asToken, 'GET', path)).status, 404);
    await cleo.ask('forget', {});
    await assert.rejects(cleo.ask('identity', {}), /not_found/);
    // Somebody else of the platform is not concerned.
    assert.equal((await world.person('ben').ask('conversations', { limit: 10 })).conversations.length, 1);
  });
});
