// The messaging bridge with real homeservers and a foreign client: accounts of the platform and Matrix accounts write to each
// other, and nobody between them can read it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { type BridgeWorld, startBridgeWorld } from '../support/bridge-world.ts';
import { synapsePackages } from '../support/synapse.ts';
import { STORY_MS } from '../support/wait.ts';

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

  test('both databases hold encrypted messages alone, and the wire between bridge and homeserver no plaintext', async () => {
    for (const { databaseFile } of [world.home, world.away]) {
      const database = new DatabaseSync(databaseFile, { readOnly: true });
      const rows = database.prepare('SELECT type, count(*) AS count FROM events GROUP BY type').all();
      database.close();
      const types = rows.map(({ type }) => type);
      assert.ok(types.includes('m.room.encrypted'));
      assert.ok(!types.includes('m.room.message'), `${databaseFile} holds ${types.join(', ')}`);
      for (const suffix of ['', '-wal']) {
        const bytes = await readFile(`${databaseFile}${suffix}`).catch(() => Buffer.alloc(0));
        assert.equal(bytes.includes('canary'), false);
      }
    }
    for (const relay of world.wire) {
      const bytes = relay.recorded();
      assert.ok(bytes.includes('m.room.encrypted'));
      assert.equal(bytes.includes('canary'), false);
    }
  });
});
