// Random conversations of a few accounts by two cores, over months, against a plain model: every answer, what each side sees at
// the end, and what a reader learned meanwhile are as the model says. PLATFORM_TEST_SEED repeats a failure.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type InstallationId, RefusalError } from '@platform/contract';
import { registerAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../../tests/support/thorough.ts';
import { MessagingModel, type ModelAct } from '../../../test-support/messaging-model.ts';
import type { News, Position, Transport, TransportMessage } from '../transport.ts';
import { bundledTransport } from './bundled-transport.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const DAY = 86_400_000;
const RUNS = thorough(15, 200);
const NAMES = ['ada', 'ben', 'cid'];
const APP = 'inst-01900000-0000-7000-8000-000000000001' as InstallationId;

let world: Constellation;
let now = START;
let transports: readonly [Transport, Transport];
let runs = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(now) });
  const replica = await world.replica();
  transports = [bundledTransport(world.core.context), bundledTransport(replica.context)];
});
after(() => world?.close());

interface Person {
  readonly name: string;
  readonly key: string;
  /** The conversation with each other one. */
  readonly conversations: Map<string, string>;
}

async function people(): Promise<readonly Person[]> {
  runs += 1;
  return Promise.all(
    NAMES.map(async (first) => {
      const name = `${first}-run-${runs}`;
      await registerAccount(world, name);
      const { rows } = await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [name]);
      return { name, key: rows[0].key as string, conversations: new Map<string, string>() };
    }),
  );
}

const act = fc.record({
  core: fc.constantFrom(0, 1),
  own: fc.nat({ max: NAMES.length - 1 }),
  other: fc.nat({ max: NAMES.length - 2 }),
  do: fc.oneof(
    { weight: 3, arbitrary: fc.constant('direct') },
    { weight: 5, arbitrary: fc.constant('send') },
    { weight: 4, arbitrary: fc.constantFrom('accept', 'decline', 'leave', 'block', 'read') },
    { weight: 1, arbitrary: fc.constantFrom('day', 'month') },
  ),
});

async function perform(
  transport: Transport,
  own: Person,
  other: Person,
  what: ModelAct,
  body: string,
): Promise<string> {
  const conversationId = own.conversations.get(other.name);
  try {
    if (what === 'direct') {
      const { conversation } = await transport.direct(own.key, other.name);
      own.conversations.set(other.name, conversation.id);
      other.conversations.set(own.name, conversation.id);
      return 'done';
    }
    if (conversationId === undefined) return 'not_found';
    if (what === 'send')
      await transport.send({ accountKey: own.key, installationId: APP }, { conversationId, transactionId: body, body });
    else if (what === 'read') {
      const { items } = await transport.messages(own.key, conversationId, { limit: 1, at: undefined });
      if (items[0] === undefined) return 'not_found';
      await transport.markRead(own.key, conversationId, items[0].id);
    } else await transport.act(own.key, conversationId, what);
    return 'done';
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal.code;
    throw error;
  }
}

test(`${RUNS} random courses`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), async (acts) => {
      const model = new MessagingModel();
      const everybody = await people();
      const learned = new Map<string, { position: Position; messages: TransportMessage[] }>();
      for (const { key } of everybody) learned.set(key, { position: 0, messages: [] });
      const begun = now;
      for (const [index, one] of acts.entries()) {
        if (one.do === 'day' || one.do === 'month') {
          const days = one.do === 'day' ? 1 : 30;
          now += days * DAY;
          model.day += days;
          continue;
        }
        const own = everybody[one.own] as Person;
        const other = everybody.filter((person) => person !== own)[one.other] as Person;
        const body = `${runs}-${index}`;
        const transport = transports[one.core] as Transport;
        const outcome = await perform(transport, own, other, one.do as ModelAct, body);
        assert.equal(outcome, model.act(own.name, other.name, one.do as ModelAct, body), JSON.stringify(one));
        if (index % 7 === 0) await learn(transport, own.key, learned, 2);
      }
      for (const own of everybody) {
        await learn(transports[0], own.key, learned, 100);
        for (const other of everybody) if (own !== other) await compare(own, other, model);
        const bodies = everybody.flatMap((other) => model.view(own.name, other.name)?.bodies ?? []);
        const { messages = [] } = learned.get(own.key) ?? {};
        assert.deepEqual(messages.map(({ body }) => body).sort(), bodies.toSorted(), 'each once, by the news');
      }
      assert.ok(now >= begun);
    }),
    { numRuns: RUNS },
  );
});

async function compare(own: Person, other: Person, model: MessagingModel): Promise<void> {
  const { items } = await transports[1].conversations(own.key, { limit: 50, at: undefined });
  const id = own.conversations.get(other.name);
  const found = items.find((one) => one.id === id);
  const wanted = model.view(own.name, other.name);
  if (wanted === undefined || found === undefined) {
    assert.equal(found, wanted);
    return;
  }
  const messages = await transports[0].messages(own.key, found.id, { limit: 200, at: undefined });
  assert.deepEqual(
    { state: found.state, unread: found.unread, bodies: messages.items.map(({ body }) => body).toReversed() },
    wanted,
    `${own.name} of ${other.name}`,
  );
}

async function learn(
  transport: Transport,
  key: string,
  learned: Map<string, { position: Position; messages: TransportMessage[] }>,
  limit: number,
): Promise<void> {
  const reader = learned.get(key);
  if (reader === undefined) return;
  let news: News;
  do {
    news = await transport.news(key, reader.position, limit);
    assert.ok(news.messages.length <= limit);
    reader.position = news.position;
    reader.messages.push(...news.messages);
  } while (news.hasMore);
}
