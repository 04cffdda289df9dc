// What holds for the addresses of people, for a backend and for a page: of what a person typed, of what the address book gave, and of
// what somebody else wrote. Beside the account `FRIEND` and without a bridge.
import { equal, fails } from './checks.ts';
import { FRIEND } from './messaging-cases.ts';
import type { Cases } from './tools.ts';

const NOBODY = { name: 'PlatformError', code: 'not_found', status: 404 } as const;

export const contactCases: Cases = {
  async 'an address in any form names the same person'({ client: { messaging } }) {
    const contact = await messaging.resolve(FRIEND);
    equal(contact.external, false);
    const [name, server] = contact.address.split('@');
    equal([name, contact.transportUserId], [FRIEND, `@${FRIEND}:${server}`]);
    for (const form of [
      ` ${FRIEND.toUpperCase()} `,
      contact.address,
      contact.transportUserId,
      `${FRIEND}@${server?.toUpperCase()}`,
    ])
      equal(await messaging.resolve(form), contact);
  },

  async 'an address that looks like somebody’s is not theirs'({ client: { messaging } }) {
    const { address, transportUserId } = await messaging.resolve(FRIEND);
    const others = [
      FRIEND.replace('i', 'і'),
      `\u202e${FRIEND}`,
      `${FRIEND}\u200b`,
      `${address}.example.org`,
      transportUserId.replace(':', '\u2236'),
      `@${FRIEND.toUpperCase()}:elsewhere.example`,
    ];
    for (const other of others) await fails(messaging.resolve(other), NOBODY);
  },

  async 'nobody has what is no address, and nobody elsewhere is reached without a bridge'({ client: { messaging } }) {
    const nobodies = ['nobody-there', '@', 'a b', '%2e', '@grace:example.org', 'grace@example.org', '👋'];
    for (const nobody of nobodies) await fails(messaging.resolve(nobody), NOBODY);
    // No path of the platform has these.
    for (const nobody of ['../identity', 'a\\b', 'a\0b', '\ud800'])
      await fails(messaging.resolve(nobody), { code: 'invalid_request' });
    for (const nobody of [...nobodies, '../identity']) await fails(messaging.direct(nobody), NOBODY);
    await fails(messaging.resolve('x'.repeat(256)), { code: 'invalid_request', status: 400 });
    await fails(messaging.direct(''), { code: 'invalid_request', status: 400 });
  },
};
