// What somebody elsewhere can have the homeserver show to an account, besides what they may: a line for each, as syncs. Whatever
// holds `canary` must never be shown.
import { event, invitation, joinedRoom } from './fake-homeserver.ts';
import type { ForeignDevice } from './foreign-device.ts';

export interface Outsider {
  /** Whom it is tried on. */
  readonly victim: string;
  /** Of the open conversation with the attacker. */
  readonly room: string;
  readonly attacker: ForeignDevice;
  /** Another account of theirs, with whom there is no conversation. */
  readonly second: ForeignDevice;
  /** A message of the victim in the conversation. */
  readonly ownMessage: string;
  /** Somebody else, in whose mouth words are put, and a room with them. */
  readonly friend: { readonly userId: string; readonly room: string };
}

export interface HostileCase {
  readonly name: string;
  readonly syncs: (outsider: Outsider) => object[] | Promise<object[]>;
}

export const inRoom = (room: string, ...events: object[]) => ({
  rooms: { join: { [room]: { timeline: { events } } } },
});
export const roomsOf = (sync: object) => (sync as { rooms: Record<'invite' | 'join', Record<string, object>> }).rooms;
export const stateOf = (room: string, ...events: object[]) => ({ rooms: { join: { [room]: { state: { events } } } } });
export const toDevice = (...events: object[]) => ({ to_device: { events } });
const text = (body: string) => ({ msgtype: 'm.text', body });
export const times = <One>(count: number, make: (number: number) => One) =>
  Array.from({ length: count }, (_, at) => make(at));
const MEGOLM = 'm.megolm.v1.aes-sha2';
const FAR = 8.64e15;
/** Right to left, zero width, NUL, half a character. */
const BIDI = 'canary\u202e\u2066\u200b\u0000\ud800 gnp.exe';

/** Encrypted by the attacker as one of theirs. */
const encrypted = async ({ attacker, room }: Outsider, content: object, more: object = {}, type?: string) =>
  event('m.room.encrypted', attacker.userId, await attacker.encrypt(room, content, type), more);

/** One state event after the other, of every type that means something, with contents that mean nothing. */
const STATE_TYPES = [
  'm.room.member',
  'm.room.encryption',
  'm.room.tombstone',
  'm.room.create',
  'm.room.power_levels',
  'm.room.server_acl',
  'm.room.history_visibility',
  'm.room.join_rules',
  'm.room.name',
  'm.room.topic',
  'm.room.pinned_events',
  'm.room.third_party_invite',
];
const WRONG = [null, 7, 'x', [], [[]], true, { membership: 7 }, { membership: {} }, { algorithm: [] }, { ban: 'x' }];

export const HOSTILE_CASES: readonly HostileCase[] = [
  {
    name: 'encrypted events of every wrong form',
    syncs: ({ attacker, room }) => [
      inRoom(
        room,
        ...[
          {},
          { algorithm: MEGOLM },
          { algorithm: 7, ciphertext: 7, session_id: 7 },
          { algorithm: MEGOLM, ciphertext: '', session_id: '', sender_key: '', device_id: '' },
          { algorithm: MEGOLM, ciphertext: '\u0000', session_id: '\ud800' },
          { algorithm: MEGOLM, ciphertext: 'AAAA'.repeat(10_000), session_id: 'x' },
          { algorithm: 'm.olm.v1.curve25519-aes-sha2', ciphertext: { x: { type: 0, body: 'x' } }, sender_key: 'x' },
          { algorithm: 'org.example.none', ciphertext: 'canary', body: 'canary' },
          { algorithm: MEGOLM, ciphertext: 'x', session_id: 'x', body: 'canary', msgtype: 'm.text' },
        ].map((content) => event('m.room.encrypted', attacker.userId, content)),
      ),
    ],
  },
  {
    name: 'a sender key and a device of somebody else',
    syncs: async (outsider) => {
      const own = (await outsider.attacker.encrypt(outsider.room, text('canary? by other keys'))) as object;
      const other = { sender_key: 'A'.repeat(43), device_id: 'SOMEBODY' };
      return [
        inRoom(outsider.room, event('m.room.encrypted', outsider.friend.userId, { ...own, ...other })),
        inRoom(outsider.friend.room, event('m.room.encrypted', outsider.friend.userId, { ...own, ...other })),
      ];
    },
  },
  {
    name: 'the attacker’s room key for the room of somebody else, and words in their mouth',
    syncs: async ({ attacker, victim, friend }) => {
      await attacker.share(friend.room, victim);
      const content = await attacker.encrypt(friend.room, text('canary: of the attacker'));
      return [{}, inRoom(friend.room, event('m.room.encrypted', friend.userId, content))];
    },
  },
  {
    name: 'one ciphertext under other ids, times and spellings',
    syncs: async (outsider) => {
      const content = (await outsider.attacker.encrypt(outsider.room, text('once alone'))) as { ciphertext: string };
      const spelled = (ciphertext: string) =>
        event('m.room.encrypted', outsider.attacker.userId, { ...content, ciphertext }, { origin_server_ts: 1 });
      const { ciphertext } = content;
      return [
        inRoom(outsider.room, spelled(ciphertext), spelled(ciphertext)),
        inRoom(outsider.room, ...['=', '==', '===', '\n', ' '].map((end) => spelled(ciphertext + end))),
        inRoom(outsider.room, spelled(ciphertext.replaceAll('+', '-').replaceAll('/', '_'))),
      ];
    },
  },
  {
    name: 'room keys that nobody encrypted, forwarded keys, secrets and requests for keys',
    syncs: ({ attacker, victim, room }) => [
      toDevice(
        ...['m.room_key', 'm.forwarded_room_key', 'm.secret.send', 'm.room_key.withheld', 'm.dummy'].flatMap((type) =>
          [
            { algorithm: MEGOLM, room_id: room, session_id: 'x', session_key: 'x'.repeat(300) },
            { algorithm: MEGOLM, room_id: 7, session_id: [], session_key: null, code: {} },
            { secret: 'canary', request_id: 'x' },
          ].map((content) => ({ type, sender: attacker.userId, content })),
        ),
        ...['m.room_key_request', 'm.secret.request'].flatMap((type) =>
          times(50, (number) => ({
            type,
            sender: number % 2 === 0 ? attacker.userId : victim,
            content: {
              action: 'request',
              name: 'm.cross_signing.master',
              body: { algorithm: MEGOLM, room_id: room, session_id: 'x', sender_key: 'x' },
              request_id: String(number),
              requesting_device_id: 'EVIL',
            },
          })),
        ),
      ),
    ],
  },
  {
    name: 'requests to compare keys without end, to the device and in the room, and steps of ones that nobody began',
    syncs: async (outsider) => {
      const { attacker, victim, room } = outsider;
      const from_device = attacker.userId.slice(1, 4).toUpperCase();
      const step = (type: string, transaction_id: string, content: object) => ({
        type,
        sender: attacker.userId,
        content: { from_device, transaction_id, ...content },
      });
      const asks = await Promise.all(
        times(20, () =>
          encrypted(outsider, {
            msgtype: 'm.key.verification.request',
            body: 'canary',
            from_device,
            methods: ['m.sas.v1'],
            to: victim,
          }),
        ),
      );
      return [
        toDevice(
          ...times(200, (number) =>
            step('m.key.verification.request', `t${number}`, { methods: ['m.sas.v1'], timestamp: Date.now() }),
          ),
          ...['start', 'accept', 'key', 'mac', 'done', 'cancel', 'ready'].map((kind) =>
            step(`m.key.verification.${kind}`, 'none', { method: 'm.sas.v1', key: 'x', mac: {}, keys: 'x', code: 'x' }),
          ),
        ),
        inRoom(room, ...asks),
      ];
    },
  },
  {
    name: 'names, topics and reasons that are huge or have marks of direction and NUL',
    syncs: ({ attacker, room }) => [
      stateOf(
        room,
        event(
          'm.room.member',
          attacker.userId,
          { membership: 'join', displayname: BIDI.repeat(3_000), avatar_url: BIDI, reason: BIDI },
          { state_key: attacker.userId },
        ),
        event('m.room.name', attacker.userId, { name: BIDI.repeat(3_000) }, { state_key: '' }),
        event('m.room.topic', attacker.userId, { topic: BIDI }, { state_key: '' }),
      ),
      inRoom(room, event(BIDI, attacker.userId, {}), event('m.room.message', attacker.userId, { [BIDI]: BIDI })),
    ],
  },
  {
    name: 'people and ids that core would not take',
    syncs: ({ victim, room, attacker }) => [
      ...['somebody', '@', '@:', '@x', `@${'x'.repeat(300)}:y`, '@\u0000:y', '@\ud800:y', ''].map((userId, at) => ({
        rooms: {
          invite: roomsOf(invitation(`!strange${at}`, victim, userId)).invite,
          join: {
            ...roomsOf(joinedRoom(`!stranger${at}`, victim, userId)).join,
            ...roomsOf(inRoom(room, event('m.room.message', userId, text('canary')))).join,
          },
        },
      })),
      joinedRoom('!bidi', victim, '@\u202eada:evil.test'),
      invitation('!nul\u0000', victim, attacker.userId),
      inRoom(
        room,
        event('m.sticker', attacker.userId, {}, { event_id: '$nul\u0000' }),
        event('m.sticker', attacker.userId, {}, { event_id: '$half\ud800' }),
        event('m.sticker', attacker.userId, {}, { event_id: `$${'x'.repeat(300)}` }),
      ),
    ],
  },
  {
    name: 'texts of 64 KiB, of controls, of half characters and of NUL',
    syncs: async (outsider) => {
      const bodies = ['\u0001'.repeat(60_000), '\u202e'.repeat(20_000), '\ud800'.repeat(20_000), '\0'.repeat(60_000)];
      const events: object[] = [];
      for (const body of bodies) events.push(await encrypted(outsider, text(body)));
      return [inRoom(outsider.room, ...events)];
    },
  },
  {
    name: 'encrypted contents of every wrong form',
    syncs: async (outsider) => {
      const events: object[] = [];
      for (const content of [
        {},
        { msgtype: 7 },
        { msgtype: 'm.text' },
        { msgtype: 'm.text', body: {} },
        { msgtype: '__proto__', body: 'x' },
        { msgtype: 'm.image', body: [], filename: 7, info: null },
        { ...text('x'), 'm.relates_to': 7 },
        { ...text('x'), 'm.relates_to': { rel_type: 'm.replace', event_id: outsider.ownMessage }, 'm.new_content': 7 },
      ])
        events.push(await encrypted(outsider, content));
      for (const type of ['m.room.member', 'm.room.encryption', 'm.room.tombstone', 'm.room.redaction', BIDI])
        events.push(await encrypted(outsider, { membership: 'leave', redacts: outsider.ownMessage }, {}, type));
      return [inRoom(outsider.room, ...events)];
    },
  },
  {
    name: 'encryption that is turned off, or to something else',
    syncs: ({ attacker, room }) => [
      stateOf(
        room,
        ...[{}, { algorithm: 'none' }, { algorithm: null }, { algorithm: MEGOLM, rotation_period_msgs: -1 }].map(
          (content) => event('m.room.encryption', attacker.userId, content, { state_key: '' }),
        ),
      ),
      inRoom(room, event('m.room.message', attacker.userId, text('canary: it is off now'))),
    ],
  },
  {
    name: 'state of every type with contents of wrong types, and under keys that are none',
    syncs: ({ attacker, room }) => [
      stateOf(
        room,
        ...STATE_TYPES.filter((type) => type !== 'm.room.member' && type !== 'm.room.tombstone').flatMap((type) =>
          WRONG.map((content) => event(type, attacker.userId, content as object, { state_key: '' })),
        ),
        ...WRONG.map((content) =>
          event('m.room.member', attacker.userId, content as object, { state_key: 'nobody at all' }),
        ),
        ...WRONG.map((roomId) =>
          event('m.room.tombstone', attacker.userId, { replacement_room: roomId }, { state_key: '' }),
        ),
      ),
    ],
  },
  {
    name: 'a room whose powers, lists of servers and rules shut everybody out',
    syncs: ({ attacker, room }) => [
      stateOf(
        room,
        event(
          'm.room.power_levels',
          attacker.userId,
          { users: { [attacker.userId]: 2 ** 53 }, events_default: 2 ** 53, state_default: 2 ** 60, ban: -1 },
          { state_key: '' },
        ),
        event('m.room.server_acl', attacker.userId, { allow: [], deny: ['*'] }, { state_key: '' }),
        event('m.room.join_rules', attacker.userId, { join_rule: 'public' }, { state_key: '' }),
      ),
    ],
  },
  {
    name: 'edits, reactions and deletions of what others wrote',
    syncs: async (outsider) => {
      const { attacker, room, friend, ownMessage } = outsider;
      const edit = { 'm.new_content': text('edited'), 'm.relates_to': { rel_type: 'm.replace', event_id: ownMessage } };
      return [
        inRoom(
          room,
          await encrypted(outsider, { ...text('* edited'), ...edit }),
          event('m.room.redaction', attacker.userId, { redacts: ownMessage }),
          event('m.room.redaction', attacker.userId, {}, { redacts: ownMessage }),
          event('m.reaction', attacker.userId, {
            'm.relates_to': { rel_type: 'm.annotation', event_id: ownMessage, key: 'canary: pay me' },
          }),
        ),
        inRoom(friend.room, event('m.room.redaction', attacker.userId, { redacts: ownMessage })),
      ];
    },
  },
  {
    name: 'times of long ago and of the far future',
    syncs: async (outsider) => {
      const events: object[] = [];
      for (const origin_server_ts of [0, 1, -1, 0.5, FAR, FAR + 1, 253_402_300_800_000, 1e300])
        events.push(await encrypted(outsider, text(`at ${origin_server_ts}`), { origin_server_ts }));
      return [inRoom(outsider.room, ...events)];
    },
  },
  {
    name: 'members that servers add, made up',
    syncs: async (outsider) => {
      const made = (unsigned: unknown) => encrypted(outsider, text('with members of servers'), { unsigned });
      return [
        inRoom(
          outsider.room,
          await made({ transaction_id: 'x'.repeat(512), age: -FAR, membership: 7 }),
          await made({ redacted_because: { content: { redacts: outsider.ownMessage } }, 'm.relations': { x: BIDI } }),
          await made(7),
          await made([]),
        ),
      ];
    },
  },
];
