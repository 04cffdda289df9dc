// The messaging bridge with real homeservers and a foreign client: accounts of the platform and Matrix accounts write to each
// other, and nobody between them can read it.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Conversation, MessagingBridgeResult } from '@platform/contract';
import { databaseText } from '../../packages/core/test-support/database-sweep.ts';
import { writerOf } from '../../packages/core/test-support/messaging.ts';
import { BridgeFailure, type BridgeWorld, startBridgeWorld } from '../support/bridge-world.ts';
import { startConstellation } from '../support/constellation.ts';
import { synapsePackages } from '../support/synapse.ts';
import { holdsEncryptedAlone, holdsEvent, membershipOf, sessionOf } from '../support/synapse-rows.ts';
import { STORY_MS, until } from '../support/wait.ts';

const packages = await synapsePackages();
const skip = packages === null && 'needs Python with venv, and a package index';

suite('messages over Matrix', { skip, timeout: STORY_MS }, () => {
  let world: BridgeWorld;
  before(async () => {
    world = await startBridgeWorld(packages ?? '');
  });
  after(() => world?.close());

  test('an account of the platform writes first, and a Matrix account answers', async () => {
    const ada = world.person('ada');
    const zoe = await world.stranger('zoe');
    const { conversation, created } = await ada.ask('direct', { to: zoe.userId });
    assert.equal(created, true);
    assert.equal(conversation.state, 'requested');
    assert.equal(conversation.encrypted, true);
    const room = await zoe.invitedBy(ada.userId);
    const { message } = await ada.ask('send', {
      conversationId: conversation.id,
      transactionId: 'first',
      message: { body: 'canary: written before it was accepted' },
    });
    assert.equal(message.senderId, ada.userId);
    await zoe.do('join', { room });
    await ada.conversationWith(zoe.userId, 'open');
    // Its server fetches from ours what was before it joined, when it is asked.
    const { bodies } = await zoe.do('history', { room });
    assert.deepEqual(bodies, ['canary: written before it was accepted']);
    await zoe.do('send', { room, body: 'canary: the answer' });
    const answer = await ada.receives('canary: the answer');
    assert.equal(answer.senderId, zoe.userId);
    assert.equal(answer.kind, 'text');
    assert.equal((await ada.ask('direct', { to: zoe.userId })).created, false);
  });

  test('a Matrix account writes first: its invitation is a request, and what it wrote is there once it is accepted', async () => {
    const ben = world.person('ben');
    await ben.ask('identity', {});
    const yan = await world.stranger('yan');
    const { room } = await yan.do('create', { to: ben.userId });
    await yan.do('send', { room, body: 'canary: are you there?' });
    const request = await ben.conversationWith(yan.userId, 'request');
    assert.deepEqual((await ben.ask('messages', { conversationId: request.id, limit: 10 })).messages, []);
    const { conversation } = await ben.ask('accept', { conversationId: request.id });
    assert.equal(conversation.state, 'open');
    const message = await ben.receives('canary: are you there?');
    assert.equal(message.senderId, yan.userId);
    const { unread } = await ben.conversationWith(yan.userId, 'open');
    assert.equal(unread, 1);
    await ben.ask('send', {
      conversationId: conversation.id,
      transactionId: 'answer',
      message: { body: 'canary: I am' },
    });
    assert.equal((await yan.receives('canary: I am')).decrypted, true);
    const read = await ben.ask('read', { conversationId: conversation.id, messageId: message.id });
    assert.equal(read.conversation.unread, 0);
  });

  test('two accounts of the platform write to each other', async () => {
    const [cleo, dan] = [world.person('cleo'), world.person('dan')];
    await dan.ask('identity', {});
    const { conversation } = await cleo.ask('direct', { to: dan.userId });
    const request = await dan.conversationWith(cleo.userId, 'request');
    await cleo.ask('send', {
      conversationId: conversation.id,
      transactionId: '1',
      message: { body: 'canary: hello Dan' },
    });
    await dan.ask('accept', { conversationId: request.id });
    await dan.receives('canary: hello Dan');
    await dan.ask('send', { conversationId: request.id, transactionId: '1', message: { body: 'canary: hello Cleo' } });
    await cleo.receives('canary: hello Cleo');
    assert.equal((await cleo.conversationWith(dan.userId)).state, 'open');
  });

  test('nobody of a name, and somebody of one', async () => {
    const ada = world.person('ada');
    const { contact } = await ada.ask('resolve', { address: `@zoe:${world.away.serverName}` });
    assert.deepEqual(contact, { transportUserId: `@zoe:${world.away.serverName}` });
    assert.deepEqual((await ada.ask('resolve', { address: `@nobody:${world.away.serverName}` })).contact, null);
  });

  test('what is no text comes with words, and what was deleted is deleted', async () => {
    const eve = world.person('eve');
    const xia = await world.stranger('xia');
    const { conversation } = await eve.ask('direct', { to: xia.userId });
    const room = await xia.invitedBy(eve.userId);
    await xia.do('join', { room });
    await eve.conversationWith(xia.userId, 'open');
    const { sent } = await xia.do('send', { room, body: 'canary: soon gone' });
    await eve.receives('canary: soon gone');
    await xia.do('redact', { room, event: sent });
    await eve.receives('Deleted a message.');
    const relates = { rel_type: 'm.replace', event_id: sent };
    for (const [content, words] of [
      [{ msgtype: 'm.image', body: 'canary.jpg', url: 'mxc://x/y' }, /^Sent a picture “canary\.jpg”/],
      [
        {
          msgtype: 'm.text',
          body: '* canary: edited',
          'm.relates_to': relates,
          'm.new_content': { msgtype: 'm.text', body: 'canary: edited' },
        },
        /^Edited a message, which is now: canary: edited/,
      ],
      [{ msgtype: 'm.emote', body: 'canary: waves' }, /^\* canary: waves$/],
      [{ msgtype: 'm.made.up', body: 'canary' }, /^Sent something/],
    ] as const) {
      await xia.do('send', { room, content });
      await eve.receives(words);
    }
    const thumb = { 'm.relates_to': { rel_type: 'm.annotation', event_id: sent, key: '👍' } };
    await xia.do('send', { room, type: 'm.reaction', content: thumb });
    assert.equal((await eve.receives('Reacted with “👍”.')).kind, 'unsupported');
    const { messages } = await eve.ask('messages', { conversationId: conversation.id, limit: 100 });
    assert.ok(!messages.some(({ body }) => body === 'canary: soon gone'));
  });

  test('a room that was upgraded: the conversation goes on, under ids without a server', async () => {
    const fay = world.person('fay');
    const wim = await world.stranger('wim');
    await fay.ask('direct', { to: wim.userId });
    const room = await wim.invitedBy(fay.userId);
    await wim.do('join', { room });
    const { id } = await fay.conversationWith(wim.userId, 'open');
    const { replacement_room: next } = await wim.do('upgrade', { room, version: '12' });
    assert.match(String(next), /^![^:]+$/);
    await wim.do('invite', { room: next, user: fay.userId });
    await wim.do('send', { room: next, body: 'canary: in the new room' });
    assert.equal((await fay.receives('canary: in the new room')).conversationId, id);
    await fay.ask('send', { conversationId: id, transactionId: '1', message: { body: 'canary: here too' } });
    assert.equal((await wim.receives('canary: here too')).room, next);
  });

  test('who is declined, left or blocked is not answered, and a conversation that is opened again goes on', async () => {
    const gus = world.person('gus');
    await gus.ask('identity', {});
    const vic = await world.stranger('vic');
    const { room } = await vic.do('create', { to: gus.userId });
    const { id } = await gus.conversationWith(vic.userId, 'request');
    assert.equal((await gus.ask('decline', { conversationId: id })).conversation.state, 'left');
    const { room: second } = await vic.do('create', { to: gus.userId });
    assert.notEqual(second, room);
    const opened = await gus.ask('direct', { to: vic.userId });
    assert.equal(opened.created, false);
    assert.equal(opened.conversation.state, 'open');
    await gus.ask('send', { conversationId: id, transactionId: '1', message: { body: 'canary: after all' } });
    const { room: joined } = await vic.receives('canary: after all');
    assert.equal((await gus.ask('block', { conversationId: id })).conversation.state, 'left');
    const { sent } = await vic.do('send', { room: joined, body: 'canary: to the wall' });
    await until('it to reach the homeserver', () => holdsEvent(world.home, String(sent)));
    await assert.rejects(
      gus.ask('send', { conversationId: id, transactionId: '2', message: { body: 'x' } }),
      (error) => error instanceof BridgeFailure && error.code === 'conflict',
    );
    assert.equal((await gus.ask('direct', { to: vic.userId })).conversation.state, 'open');
    await vic.do('send', { room: joined, body: 'canary: again' });
    await gus.receives('canary: again');
    const { messages } = await gus.ask('messages', { conversationId: id, limit: 100 });
    assert.ok(!messages.some(({ body }) => body === 'canary: to the wall'));
  });

  test('both sides open the conversation at the same moment, and it is one', async () => {
    const [hal, ida] = [world.person('hal'), world.person('ida')];
    await Promise.all([hal.ask('identity', {}), ida.ask('identity', {})]);
    await Promise.all([hal.ask('direct', { to: ida.userId }), ida.ask('direct', { to: hal.userId })]);
    const [ours, theirs] = await Promise.all([
      hal.conversationWith(ida.userId, 'open'),
      ida.conversationWith(hal.userId, 'open'),
    ]);
    await hal.ask('send', { conversationId: ours.id, transactionId: '1', message: { body: 'canary: from Hal' } });
    await ida.ask('send', { conversationId: theirs.id, transactionId: '1', message: { body: 'canary: from Ida' } });
    await ida.receives('canary: from Hal');
    await hal.receives('canary: from Ida');
    assert.equal((await hal.ask('conversations', { limit: 100 })).conversations.length, 1);
  });

  test('the fourth message before an answer is refused, and one that is repeated is sent once', async () => {
    const joy = world.person('joy');
    const ute = await world.stranger('ute');
    const { conversation } = await joy.ask('direct', { to: ute.userId });
    const send = (transactionId: string, body = `canary: ${transactionId}`) =>
      joy.ask('send', { conversationId: conversation.id, transactionId, message: { body } });
    const first = await send('1');
    assert.deepEqual(await Promise.all([send('1'), send('1')]), [first, first]);
    const conflicts = (error: unknown) => error instanceof BridgeFailure && error.code === 'conflict';
    await assert.rejects(send('1', 'canary: another'), conflicts);
    await send('2');
    await send('3');
    await assert.rejects(send('4'), conflicts);
    const { messages } = await joy.ask('messages', { conversationId: conversation.id, limit: 2 });
    assert.deepEqual(
      messages.map(({ body }) => body),
      ['canary: 3', 'canary: 2'],
    );
  });

  test('many calls at once make one account with one device', async () => {
    const ken = world.person('ken');
    const answers = await Promise.all(Array.from({ length: 10 }, () => ken.ask('identity', {})));
    for (const answer of answers) assert.deepEqual(answer, { identity: { transportUserId: ken.userId } });
    const sql = 'SELECT count(*) AS count FROM devices WHERE user_id = ? AND NOT hidden';
    const [devices] = await world.home.database.rows(sql, ken.userId);
    assert.equal(Number(devices?.count), 1);
  });

  test('a wait for news ends with them, and every reader gets all of them', async () => {
    const leo = world.person('leo');
    const { cursor } = await leo.ask('sync', { timeoutMs: 0, limit: 10 });
    const waiting = leo.ask('sync', { cursor, timeoutMs: 30_000, limit: 10 });
    const tom = await world.stranger('tom');
    const { room } = await tom.do('create', { to: leo.userId });
    const request = (await waiting).conversations[0];
    assert.equal(request?.state, 'request');
    await leo.ask('accept', { conversationId: request?.id ?? '' });
    for (const number of [1, 2, 3]) {
      await tom.do('send', { room, body: `canary: ${number}` });
      await leo.receives(`canary: ${number}`);
    }
    const bodies: string[] = [];
    let at = cursor;
    for (;;) {
      const news = await leo.ask('sync', { cursor: at, timeoutMs: 0, limit: 2 });
      bodies.push(...news.messages.map(({ body }) => body));
      at = news.cursor;
      if (!news.hasMore) break;
    }
    assert.deepEqual(bodies, ['canary: 1', 'canary: 2', 'canary: 3']);
  });

  test('who leaves gets no key of what is written later, and the writer does not learn of it', async () => {
    const ivy = world.person('ivy');
    const ron = await world.stranger('ron');
    const { conversation } = await ivy.ask('direct', { to: ron.userId });
    const room = await ron.invitedBy(ivy.userId);
    await ron.do('join', { room });
    await ivy.conversationWith(ron.userId, 'open');
    const send = async (body: string) => {
      const { message } = await ivy.ask('send', {
        conversationId: conversation.id,
        transactionId: body,
        message: { body },
      });
      return await sessionOf(world.home, message.id);
    };
    const before = await send('canary: to both');
    assert.equal(await send('canary: again to both'), before);
    await ron.receives('canary: again to both');
    await ron.do('leave', { room });
    await until(
      'the leaving to reach the homeserver',
      async () => (await membershipOf(world.home, room, ron.userId)) === 'leave',
    );
    assert.notEqual(await send('canary: to nobody'), before);
    assert.equal((await ivy.conversationWith(ron.userId)).state, 'open');
  });

  test('an account that nobody uses is not in memory, and takes in what comes for it', async () => {
    const ned = world.person('ned');
    const sam = await world.stranger('sam');
    await ned.ask('direct', { to: sam.userId });
    const room = await sam.invitedBy(ned.userId);
    await sam.do('join', { room });
    const { id } = await ned.conversationWith(sam.userId, 'open');
    await world.stopBridge();
    // More than one sync shows.
    const bodies = Array.from({ length: 120 }, (_, number) => `canary: ${number}`);
    for (const body of bodies) await sam.do('send', { room, body });
    await world.startBridge({ idle: 100 });
    await until('all accounts to be closed', () => world.bridge().openAccounts() === 0);
    await sam.do('send', { room, body: 'canary: the last' });
    await ned.receives('canary: the last');
    const kept: string[] = [];
    let cursor: string | null = null;
    do {
      const page: MessagingBridgeResult<'messages'> = await ned.ask('messages', {
        conversationId: id,
        limit: 50,
        ...(cursor === null ? {} : { cursor }),
      });
      kept.push(...page.messages.map(({ body }) => body));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(kept.reverse(), [...bodies, 'canary: the last']);
  });

  test('apps of a platform write over it, to each other and to anybody, by the routes of every app', async () => {
    const { token, listen, serverName } = world.options;
    const bridge = { kind: 'configured', url: `http://${listen.host}:${listen.port}`, token } as const;
    const platform = await startConstellation({
      config: { messaging: { serverName, bridge, federation: null, clientUrl: null } },
    });
    try {
      const [mia, noa] = [await writerOf(platform, 'mia'), await writerOf(platform, 'noa')];
      const oda = await world.stranger('oda');
      const begun = await mia.call('/conversations/direct', { body: { to: oda.userId } });
      assert.equal(begun.status, 201, begun.text);
      const { id } = (begun.json as { conversation: Conversation }).conversation;
      const sent = await mia.send(id, 'canary: through core', 'one');
      assert.equal(sent.status, 201, sent.text);
      const room = await oda.invitedBy(`@mia:${serverName}`);
      await oda.do('join', { room });
      await oda.do('send', { room, body: 'canary: to core' });
      await until('the answer', async () => (await mia.bodies(id)).includes('canary: to core'), 60_000);

      const opened = await mia.call('/conversations/direct', { body: { to: 'noa' } });
      assert.equal(opened.status, 201, opened.text);
      const { conversation } = opened.json as { conversation: Conversation };
      assert.deepEqual(conversation.participants, [
        { address: `noa@${serverName}`, transportUserId: `@noa:${serverName}` },
      ]);
      await mia.send(conversation.id, 'canary: hello Noa', 'two');
      const request = await until('a request', async () =>
        (await noa.conversations()).find(({ state }) => state === 'request'),
      );
      await noa.act(request.id, 'accept');
      await until('the message', async () => (await noa.bodies(request.id)).includes('canary: hello Noa'), 60_000);
      assert.equal((await databaseText(platform.core.context.pool)).includes('canary'), false);
    } finally {
      await platform.close();
    }
  });

  test('both databases hold encrypted messages alone, and the wire between bridge and homeserver no plaintext', async () => {
    for (const server of [world.home, world.away]) assert.deepEqual(await holdsEncryptedAlone(server, 'canary'), []);
    for (const relay of world.wire) {
      const bytes = relay.recorded();
      assert.ok(bytes.includes('m.room.encrypted'));
      assert.equal(bytes.includes('canary'), false);
    }
  });
});
