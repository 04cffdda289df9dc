// What holds for messages of a backend, beside an account of this name that has not accepted anything.
import { equal, fails } from './checks.ts';
import type { Cases } from './tools.ts';

/** Registered by `tests/support/sdk-suite.ts`. */
export const FRIEND = 'suite-friend';

export const messagingCases: Cases = {
  async 'an identity is the same at every call'({ client }) {
    const own = await client.messaging.identity();
    equal(await client.messaging.identity(), own);
    equal([own.transport, own.provisioned], ['bundled', true]);
  },

  async 'a conversation is opened once, and a message is sent once under its transaction'({ client }) {
    const { messaging } = client;
    const conversation = await messaging.direct(FRIEND);
    equal([conversation.state, conversation.encrypted], ['requested', true]);
    equal((await messaging.direct(FRIEND)).id, conversation.id);
    const sent = await messaging.send(conversation.id, 'Hello 👋', { transactionId: 'once' });
    equal(await messaging.send(conversation.id, 'Hello 👋', { transactionId: 'once' }), sent);
    await fails(messaging.send(conversation.id, 'Another text', { transactionId: 'once' }), {
      code: 'conversation_conflict',
      status: 409,
    });
    const { items, nextCursor } = await messaging.messages(conversation.id, { limit: 5 });
    equal([items.map(({ body }) => body), nextCursor], [['Hello 👋'], null]);
    equal(
      (await messaging.conversations()).items.map(({ id }) => id),
      [conversation.id],
    );
    equal((await messaging.read(conversation.id, sent.id)).unread, 0);
    await fails(messaging.accept(conversation.id), { code: 'conversation_conflict' });
  },

  async 'news begin with the newest conversations, and bring what is sent, once'({ client }) {
    const { messaging } = client;
    const { id } = await messaging.direct(FRIEND);
    const first = await messaging.sync();
    equal([first.messages, first.conversations.map((one) => one.id)], [[], [id]]);
    await messaging.send(id, 'And another one');
    const heard: string[] = [];
    const ending = new AbortController();
    for await (const { messages, restarted } of messaging.news({ cursor: first.cursor, signal: ending.signal })) {
      equal(restarted, false);
      heard.push(...messages.map(({ body }) => body));
      if (heard.length > 0) break;
    }
    equal(heard, ['And another one']);
  },

  async 'news begin anew when their cursor is none, and end with their signal'({ client }) {
    const ending = new AbortController();
    const reason = new Error('enough');
    try {
      for await (const { restarted, conversations } of client.messaging.news({ cursor: 'x', signal: ending.signal })) {
        equal([restarted, conversations.length], [true, 1]);
        ending.abort(reason);
      }
    } catch (error) {
      return equal(error === reason, true);
    }
    throw new Error('the news ended by themselves');
  },

  async 'what was left takes no further message until it is opened again'({ client }) {
    const { messaging } = client;
    const { id } = await messaging.direct(FRIEND);
    equal((await messaging.leave(id)).state, 'left');
    await fails(messaging.send(id, 'Too late'), { code: 'conversation_conflict' });
    equal((await messaging.direct(FRIEND)).state, 'requested');
    equal((await messaging.block(id)).state, 'left');
    await fails(messaging.decline('conv-unknown'), { code: 'not_found', status: 404 });
  },
};
