// What works between accounts of the platform and people with Element, by the library on which Element is built: each row of the
// table in docs/operations/messaging.md. The bridge's homeserver has its data in PostgreSQL here.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BridgeFailure, type BridgeWorld, type Person, startBridgeWorld } from '../support/bridge-world.ts';
import { jsSdkTools, type MatrixClient } from '../support/matrix-client.ts';
import { synapsePackages } from '../support/synapse.ts';
import { holdsEncryptedAlone, holdsEvent, membershipOf, sessionOf } from '../support/synapse-rows.ts';
import { STORY_MS, until } from '../support/wait.ts';

const packages = await synapsePackages();
const tools = await jsSdkTools();
const skip = (packages === null || tools === null) && 'needs Python with venv, and package indexes of Python and npm';

interface Pair {
  readonly ours: Person;
  readonly theirs: MatrixClient;
  readonly room: string;
  readonly id: string;
  /** Sends for the platform's account. @returns the event's id */
  writes(body: string): Promise<string>;
  /** What the platform's account has, oldest first. */
  bodies(): Promise<string[]>;
}

suite('messages with people who have Element', { skip, timeout: STORY_MS }, () => {
  let world: BridgeWorld;
  before(async () => {
    world = await startBridgeWorld(packages ?? '', 'postgres');
  });
  after(() => world?.close());

  const element = (name: string, isFurther = false) => world.elementOf(tools ?? '', name, isFurther);

  const pairOf = (ours: Person, theirs: MatrixClient, room: string, id: string): Pair => ({
    ours,
    theirs,
    room,
    id,
    async writes(body) {
      const sent = await ours.ask('send', { conversationId: id, transactionId: body.slice(0, 100), message: { body } });
      return sent.message.id;
    },
    async bodies() {
      const { messages } = await ours.ask('messages', { conversationId: id, limit: 100 });
      return messages.map(({ body }) => body).reverse();
    },
  });

  /** An account of the platform, and somebody with Element who accepted to be written to by it. */
  async function pair(name: string, other: string): Promise<Pair> {
    const ours = world.person(name);
    const theirs = await element(other);
    await theirs.do('crossSign');
    const { conversation } = await ours.ask('direct', { to: theirs.userId });
    const room = await theirs.invitedBy(ours.userId);
    await theirs.do('join', { room });
    await ours.conversationWith(theirs.userId, 'open');
    return pairOf(ours, theirs, room, conversation.id);
  }

  test('the platform writes first: what was written before it was accepted is there, and answers come both ways', async () => {
    const ada = world.person('ada');
    const zoe = await element('zoe');
    const { conversation } = await ada.ask('direct', { to: zoe.userId });
    assert.equal(conversation.state, 'requested');
    const room = await zoe.invitedBy(ada.userId);
    const { id, writes } = pairOf(ada, zoe, room, conversation.id);
    await writes('canary: before it was accepted');
    await zoe.do('join', { room });
    await ada.conversationWith(zoe.userId, 'open');
    assert.deepEqual((await zoe.do('history', { room })).bodies, ['canary: before it was accepted']);
    await zoe.do('send', { room, body: 'canary: an answer' });
    assert.equal((await ada.receives('canary: an answer')).conversationId, id);
    await writes('canary: and one more');
    assert.equal((await zoe.receives('canary: and one more')).decrypted, true);
  });

  test('Element writes first: a request, with what was written before once it is accepted', async () => {
    const ben = world.person('ben');
    await ben.ask('identity', {});
    const yan = await element('yan');
    const { room } = await yan.do('create', { to: ben.userId });
    await yan.do('send', { room, body: 'canary: are you there?' });
    const { id } = await ben.conversationWith(yan.userId, 'request');
    await ben.ask('accept', { conversationId: id });
    await ben.receives('canary: are you there?');
    const { writes } = pairOf(ben, yan, String(room), id);
    await writes('canary: I am');
    await yan.receives('canary: I am');
  });

  test('a request that is declined stays an invitation there, one that is left is seen to be, and a block is not', async () => {
    const { ours: gus, theirs: vic, room, id, writes, bodies } = await pair('gus', 'vic');
    const stateAt = async () => membershipOf(world.away, room, gus.userId);
    await gus.ask('block', { conversationId: id });
    const { sent } = await vic.do('send', { room, body: 'canary: to the wall' });
    await until('it to reach the homeserver', () => holdsEvent(world.home, String(sent)));
    assert.equal(await stateAt(), 'join');
    assert.equal((await gus.ask('direct', { to: vic.userId })).conversation.state, 'open');
    await vic.do('send', { room, body: 'canary: heard again' });
    await gus.receives('canary: heard again');
    await gus.ask('leave', { conversationId: id });
    await until('the leaving to be seen', async () => (await stateAt()) === 'leave');
    await vic.do('send', { room, body: 'canary: to an empty room' });
    // Element asks again, in the same room; it is opened here by the one who left.
    await vic.do('invite', { room, user: gus.userId });
    await until('the invitation', async () => (await membershipOf(world.home, room, gus.userId)) === 'invite');
    assert.equal((await gus.ask('direct', { to: vic.userId })).conversation.state, 'open');
    await writes('canary: here again');
    assert.equal((await vic.receives('canary: here again')).room, room);
    assert.ok(!(await bodies()).some((body) => body.includes('wall') || body.includes('empty room')));

    const ina = world.person('ina');
    await ina.ask('identity', {});
    const { room: declined } = await vic.do('create', { to: ina.userId });
    const request = await ina.conversationWith(vic.userId, 'request');
    await ina.ask('decline', { conversationId: request.id });
    assert.equal(await membershipOf(world.away, String(declined), ina.userId), 'invite');
  });

  test('what Element sends besides text comes as words', async () => {
    const { ours: eve, theirs: xia, room, id } = await pair('eve', 'xia');
    const { sent } = await xia.do('send', { room, body: 'canary: the first' });
    const message = await eve.receives('canary: the first');
    const file = { v: 'v2', url: 'mxc://x/y', key: { k: 'canary' }, iv: 'x', hashes: {} };
    const cases: readonly [words: string, content: object, type?: string][] = [
      [
        'Edited a message, which is now: canary: edited',
        {
          msgtype: 'm.text',
          body: ' * canary: edited',
          'm.mentions': {},
          'm.new_content': { msgtype: 'm.text', body: 'canary: edited', 'm.mentions': {} },
          'm.relates_to': { rel_type: 'm.replace', event_id: sent },
        },
      ],
      [
        'Sent a picture “canary.png”, which can’t be shown here.',
        { msgtype: 'm.image', body: 'canary.png', info: { mimetype: 'image/png', w: 1, h: 1, size: 1 }, file },
      ],
      [
        'Sent a picture “canary.png”, which can’t be shown here. With it: canary: look at this',
        { msgtype: 'm.image', filename: 'canary.png', body: 'canary: look at this', file },
      ],
      ['Sent a file “canary.pdf”, which can’t be shown here.', { msgtype: 'm.file', body: 'canary.pdf', file }],
      ['Sent a video “canary.mp4”, which can’t be shown here.', { msgtype: 'm.video', body: 'canary.mp4', file }],
      [
        'Sent a voice message, which can’t be played here.',
        {
          msgtype: 'm.audio',
          body: 'Voice message.ogg',
          file,
          'org.matrix.msc3245.voice': {},
          'org.matrix.msc1767.audio': { duration: 1000, waveform: [] },
        },
      ],
      [
        'Sent a place “Location geo:1,2 at 2026-01-01”, which can’t be shown here.',
        { msgtype: 'm.location', body: 'Location geo:1,2 at 2026-01-01', geo_uri: 'geo:1,2' },
      ],
      [
        'Sent a sticker “canary cat”, which can’t be shown here.',
        { body: 'canary cat', url: 'mxc://x/y' },
        'm.sticker',
      ],
      [
        'Sent a poll “canary?”, which can’t be shown here.',
        { 'org.matrix.msc3381.poll.start': { question: { 'org.matrix.msc1767.text': 'canary?', body: 'canary?' } } },
        'org.matrix.msc3381.poll.start',
      ],
      [
        'Called. Calls can’t be taken here.',
        { call_id: '1', version: '1', lifetime: 60_000, offer: { type: 'offer', sdp: 'canary' } },
        'm.call.invite',
      ],
      [
        'Called. Calls can’t be taken here.',
        { 'm.mentions': { room: true }, notification_type: 'ring', lifetime: 30_000, sender_ts: 1 },
        'org.matrix.msc4075.rtc.notification',
      ],
      ['Reacted with “👍”.', { 'm.relates_to': { rel_type: 'm.annotation', event_id: sent, key: '👍' } }, 'm.reaction'],
    ];
    const expected: string[] = [];
    for (const [words, content, type] of cases) {
      await xia.do('send', { room, content, ...(type === undefined ? {} : { type }) });
      expected.push(words);
      await until(words, async () => {
        const { messages } = await eve.ask('messages', { conversationId: id, limit: 100 });
        return messages.length > expected.length;
      });
    }
    const { messages } = await eve.ask('messages', { conversationId: id, limit: 100 });
    assert.deepEqual(
      messages.reverse().map(({ kind, body }) => [kind, body]),
      [['text', 'canary: the first'], ...expected.map((words) => ['unsupported', words])],
    );
    await xia.do('redact', { room, event: message.id });
    await eve.receives('Deleted a message.');
  });

  test('replies, threads, markup, mentions, actions and long messages are text', async () => {
    const { ours: fay, theirs: wim, room, writes } = await pair('fay', 'wim');
    const { sent } = await wim.do('send', { room, body: 'canary: a root' });
    const inReply = { 'm.in_reply_to': { event_id: sent } };
    const html = { format: 'org.matrix.custom.html' };
    const long = 'canary: long '.padEnd(40_000, 'é');
    for (const [content, shown] of [
      [{ msgtype: 'm.text', body: 'canary: a reply', 'm.relates_to': inReply }, 'canary: a reply'],
      // As clients wrote it before version 1.13 of the specification.
      [
        {
          msgtype: 'm.text',
          body: `> <${wim.userId}> canary: a root\n\ncanary: an old reply`,
          'm.relates_to': inReply,
        },
        `> <${wim.userId}> canary: a root\n\ncanary: an old reply`,
      ],
      [
        {
          msgtype: 'm.text',
          body: 'canary: in a thread',
          'm.relates_to': { rel_type: 'm.thread', event_id: sent, is_falling_back: true, ...inReply },
        },
        'canary: in a thread',
      ],
      [
        { msgtype: 'm.text', body: '**canary**: bold', ...html, formatted_body: '<strong>canary</strong>: bold' },
        '**canary**: bold',
      ],
      [
        {
          msgtype: 'm.text',
          body: 'fay: canary, a mention',
          ...html,
          formatted_body: `<a href="https://matrix.to/#/${fay.userId}">fay</a>: canary, a mention`,
          'm.mentions': { user_ids: [fay.userId] },
        },
        'fay: canary, a mention',
      ],
      [{ msgtype: 'm.emote', body: 'canary: waves' }, '* canary: waves'],
      [{ msgtype: 'm.notice', body: 'canary: a notice' }, 'canary: a notice'],
      [{ msgtype: 'm.text', body: long.slice(0, 20_000) }, long.slice(0, 20_000)],
    ] as const) {
      await wim.do('send', { room, content });
      assert.equal((await fay.receives(shown)).kind, 'text');
    }
    const ours = 'canary: the longest '.padEnd(16_384, 'é');
    await writes(ours);
    await wim.receives(ours);
    // An event holds 64 KiB, encrypted.
    await assert.rejects(
      writes(`canary: too long ${'😀'.repeat(16_000)}`),
      (error) => error instanceof BridgeFailure && error.code === 'conflict' && /too long/.test(error.message),
    );
    await writes('canary: it goes on');
    await wim.receives('canary: it goes on');
  });

  test('typing, receipts and another display name change nothing', async () => {
    const { ours: hal, theirs: ute, room, id, writes, bodies } = await pair('hal', 'ute');
    const event = await writes('canary: read me');
    await ute.receives('canary: read me');
    await ute.do('read', { room, event });
    await ute.do('typing', { room });
    await ute.do('displayname', { name: 'Somebody else' });
    await ute.do('send', { room, body: 'canary: under another name' });
    await hal.receives('canary: under another name');
    assert.deepEqual(await bodies(), ['canary: read me', 'canary: under another name']);
    const [conversation] = (await hal.ask('conversations', { limit: 10 })).conversations;
    assert.deepEqual(conversation?.participants, [{ transportUserId: ute.userId }]);
    const { messages } = await hal.ask('messages', { conversationId: id, limit: 1 });
    await hal.ask('read', { conversationId: id, messageId: messages[0]?.id ?? '' });
    const receipts = await world.away.database.rows('SELECT 1 FROM receipts_linearized WHERE user_id = ?', hal.userId);
    assert.deepEqual(receipts, []);
  });

  test('a further device of theirs gets what is written from then on, and what it writes arrives', async () => {
    const { ours: ivy, theirs: tom, room, writes } = await pair('ivy', 'tom');
    await writes('canary: to one device');
    await tom.receives('canary: to one device');
    const phone = await element('tom', true);
    const { device } = await phone.do('device');
    const sql = 'SELECT 1 FROM device_lists_remote_cache WHERE user_id = ? AND device_id = ? AND content LIKE ?';
    await until('its server to tell ours', async () => {
      const known = await world.home.database.rows(sql, tom.userId, String(device), '%ed25519:%');
      return known.length > 0;
    });
    // The server of the bridge may have been told, and the bridge not yet.
    let count = 0;
    const both = await until(
      'the phone to read what is written',
      async () => {
        count += 1;
        await writes(`canary: to both devices, ${count}`);
        return phone.arrived.find(({ event, body }) => event === 'message' && body.startsWith('canary: to both'));
      },
      60_000,
    );
    await tom.receives(both.body);
    await phone.do('send', { room, body: 'canary: from the phone' });
    await ivy.receives('canary: from the phone');
    await tom.do('newKey', { room });
    await tom.do('send', { room, body: 'canary: with another key' });
    await ivy.receives('canary: with another key');
  });

  test('the bridge’s device is confirmed by its owner: no shield, also where Element excludes devices that are not', async () => {
    const { ours: joy, theirs: sam, room, writes } = await pair('joy', 'sam');
    const first = await writes('canary: without a shield');
    await sam.receives('canary: without a shield');
    assert.deepEqual(await sam.do('shield', { room, event: first }).then(({ colour }) => colour), 'NONE');
    const { devices } = (await sam.do('devices', { of: joy.userId })) as { devices: Record<string, unknown>[] };
    assert.deepEqual(
      devices.map(({ signedByOwner, verified }) => ({ signedByOwner, verified })),
      [{ signedByOwner: true, verified: false }],
    );
    await sam.do('onlySigned');
    await sam.do('newKey', { room });
    await sam.do('send', { room, body: 'canary: to confirmed devices alone' });
    await joy.receives('canary: to confirmed devices alone');
    await writes('canary: from a confirmed device');
    await sam.receives('canary: from a confirmed device');
  });

  test('who gives keys to verified devices alone is not read here, which is said with its reason', async () => {
    const { ours: kim, theirs: rob, room } = await pair('kim', 'rob');
    await rob.do('onlyVerified');
    await rob.do('newKey', { room });
    await rob.do('send', { room, body: 'canary: to verified devices' });
    const shown = await kim.receives(/can’t be decrypted/);
    assert.equal(shown.kind, 'unsupported');
    assert.match(shown.body, /verified/);
  });

  test('a comparison of keys is declined, and said to the person', async () => {
    const { ours: lea, theirs: quy, room, writes } = await pair('lea', 'quy');
    await quy.do('verify', { room, of: lea.userId });
    await lea.receives('Asked to compare keys, which can’t be done here.');
    await until(
      'Element to see that it was declined',
      async () => (await quy.do('verification')).phase === 'Cancelled',
    );
    const { devices } = (await quy.do('devices', { of: lea.userId })) as { devices: { id: string }[] };
    await quy.do('verifyDevice', { of: lea.userId, device: devices[0]?.id });
    // For a message to a device nobody rings: it is seen to with what comes next, or within a minute.
    await writes('canary: next');
    await until('the other way as well', async () => (await quy.do('verification')).phase === 'Cancelled');
    await writes('canary: it goes on');
    await quy.receives('canary: it goes on');
  });

  test('a key that was used before somebody left is not used after', async () => {
    const { ours: mae, theirs: pia, room, id, writes } = await pair('mae', 'pia');
    const before = await pia.do('send', { room, body: 'canary: to both' });
    await mae.receives('canary: to both');
    await mae.ask('leave', { conversationId: id });
    await until('the leaving to be seen', async () => {
      const { membership } = await pia.do('membership', { room, of: mae.userId });
      return membership === 'leave';
    });
    const alone = await pia.do('send', { room, body: 'canary: to nobody' });
    const keyOf = ({ sent }: Record<string, unknown>) => sessionOf(world.away, String(sent));
    assert.notEqual(await keyOf(before), await keyOf(alone));
    assert.equal((await mae.ask('direct', { to: pia.userId })).conversation.state, 'open');
    const again = await until('another invitation', () => {
      const of = pia.arrived.findLast(({ event, sender }) => event === 'invite' && sender === mae.userId);
      return of?.room !== room && of?.room;
    });
    await pia.do('join', { room: again });
    const first = await writes('canary: to both again');
    await pia.receives('canary: to both again');
    await pia.do('leave', { room: again });
    await until('the leaving', async () => (await membershipOf(world.home, again, pia.userId)) === 'leave');
    const second = await writes('canary: to nobody else');
    assert.notEqual(await sessionOf(world.home, first), await sessionOf(world.home, second));
  });

  test('a room that Element upgrades goes on in the new one', async () => {
    const { ours: nia, theirs: oli, room, id, writes } = await pair('nia', 'oli');
    await oli.do('send', { room, body: 'canary: in the old room' });
    await nia.receives('canary: in the old room');
    const { replacement_room: next } = await oli.do('upgrade', { room, version: '12' });
    await oli.do('invite', { room: next, user: nia.userId });
    await oli.do('send', { room: next, body: 'canary: in the new room' });
    assert.equal((await nia.receives('canary: in the new room')).conversationId, id);
    await writes('canary: here too');
    assert.equal((await oli.receives('canary: here too')).room, next);
  });

  test('of what was said in a room before the account was invited, nothing is shown, and in one line', async () => {
    const ora = world.person('ora');
    await ora.ask('identity', {});
    const ned = await element('ned');
    await ned.do('crossSign');
    const leaver = await element('leo');
    const { room } = await ned.do('create', { to: leaver.userId });
    await leaver.invitedBy(ned.userId);
    await leaver.do('join', { room });
    for (const number of [1, 2, 3]) await ned.do('send', { room, body: `canary: before, ${number}` });
    await leaver.do('leave', { room });
    await until('the leaving', async () => (await membershipOf(world.away, String(room), leaver.userId)) === 'leave');
    await ned.do('invite', { room, user: ora.userId, history: true });
    await ned.do('send', { room, body: 'canary: after the invitation' });
    const { id } = await ora.conversationWith(ned.userId, 'request');
    await ora.ask('accept', { conversationId: id });
    await ora.receives('canary: after the invitation');
    assert.deepEqual(await pairOf(ora, ned, String(room), id).bodies(), [
      'Earlier messages of this room can’t be read here.',
      'canary: after the invitation',
    ]);
  });

  test('both databases hold encrypted messages alone, with PostgreSQL as with SQLite', async () => {
    for (const server of [world.home, world.away]) assert.deepEqual(await holdsEncryptedAlone(server, 'canary'), []);
    for (const relay of world.wire) assert.equal(relay.recorded().includes('canary'), false);
  });
});
