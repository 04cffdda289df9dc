// What somebody elsewhere can have come to an account without end: memberships, invitations, keys, lists, receipts.
import { event, invitation } from './fake-homeserver.ts';
import { type HostileCase, roomsOf, stateOf, times, toDevice } from './hostile-events.ts';

export const HOSTILE_FLOODS: readonly HostileCase[] = [
  {
    name: 'somebody who comes and goes without end',
    syncs: ({ attacker, room }) =>
      times(10, (number) =>
        stateOf(
          room,
          event(
            'm.room.member',
            attacker.userId,
            { membership: ['leave', 'ban', 'knock', 'invite', 'join'][number % 5] },
            { state_key: attacker.userId },
          ),
        ),
      ),
  },
  {
    name: 'invitations that are taken back, again and again',
    syncs: ({ victim, second }) =>
      times(8, (number) =>
        number % 2 === 0
          ? invitation(`!flap${number % 8}`, victim, second.userId)
          : { rooms: { leave: { [`!flap${(number - 1) % 8}`]: {} } } },
      ),
  },
  {
    name: 'invitations of wrong forms, to oneself, to spaces and to rooms that are known',
    syncs: ({ victim, attacker, room, friend }) => [
      {
        rooms: {
          invite: {
            '!none': {},
            '!seven': { invite_state: 7 },
            '!empty': { invite_state: { events: [] } },
            ...roomsOf(invitation(room, victim, attacker.userId)).invite,
            ...roomsOf(invitation(friend.room, victim, attacker.userId)).invite,
          },
        },
      },
      invitation('!self', victim, victim),
    ],
  },
  {
    name: 'messages to the device by thousands, of strangers and of the attacker',
    syncs: ({ attacker, second }) =>
      times(4, (page) =>
        toDevice(
          ...times(500, (number) => ({
            type: 'm.room.encrypted',
            sender: number % 2 === 0 ? attacker.userId : second.userId,
            content: {
              algorithm: 'm.olm.v1.curve25519-aes-sha2',
              sender_key: `${page}-${number}`,
              ciphertext: { x: { type: 0, body: 'x'.repeat(200) } },
            },
          })),
        ),
      ),
  },
  {
    name: 'lists of devices that change all the time, of people who are many or none',
    syncs: ({ attacker }) =>
      times(6, (page) => ({
        device_lists: {
          changed: [attacker.userId, ...times(200, (number) => `@s${page}-${number}:evil.test`), 7, '@'],
          left: times(200, (number) => `@s${page}-${number}:evil.test`),
        },
        device_one_time_keys_count: { signed_curve25519: page % 2 === 0 ? 0 : 2 ** 53, other: 'x' },
        device_unused_fallback_key_types: page % 2 === 0 ? [] : 'x',
      })),
  },
  {
    name: 'receipts and marks of everything by everybody',
    syncs: ({ attacker, victim, room, ownMessage }) => [
      {
        rooms: {
          join: {
            [room]: {
              ephemeral: {
                events: [
                  {
                    type: 'm.receipt',
                    content: Object.fromEntries(
                      times(2_000, (number) => [`$r${number}`, { 'm.read': { [attacker.userId]: {}, [victim]: 7 } }]),
                    ),
                  },
                  { type: 'm.receipt', content: { [ownMessage]: { 'm.read': null, 'm.read.private': [victim] } } },
                  { type: 'm.typing', content: { user_ids: times(5_000, (number) => `@s${number}:evil.test`) } },
                ],
              },
            },
          },
        },
      },
    ],
  },
];
