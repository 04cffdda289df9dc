// Whatever a bridge answers, an app's answer holds members of the contract alone, and is an answer only to what was asked.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Conversation, limits, type MessagingBridgeOperation, type RouteId, routes } from '@platform/contract';
import * as z from 'zod';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { thorough } from '../../../../../tests/support/thorough.ts';
import { type Writer, writerOf } from '../../../test-support/messaging.ts';
import {
  BRIDGE_TOKEN,
  type BridgeDouble,
  type BridgeReply,
  startBridgeDouble,
} from '../../../test-support/messaging-bridge.ts';
import { BridgeClient } from './bridge-client.ts';

const SERVER = 'shell.platform.localhost';
const ALICE = '@alice:example.org';
/** In everything that no app may see. */
const SECRET = 'SECRET';

let world: Constellation;
let bridge: BridgeDouble;
let ada: Writer;
let opened: Conversation;
let messageId: string;
let cursor: string;

before(async () => {
  bridge = await startBridgeDouble();
  const configured = { kind: 'configured', url: bridge.url, token: BRIDGE_TOKEN } as const;
  world = await startConstellation({
    config: { messaging: { serverName: SERVER, bridge: configured, federation: null, clientUrl: null } },
  });
  ada = await writerOf(world, 'ada');
  opened = await ada.direct(ALICE);
  messageId = (await ada.sent(opened.id, 'Hello')).id;
  ({ cursor } = await ada.sync());
  bridge.receive(`!room-of-ada-and-alice:example.org`, ALICE, 'Hello Ada');
});
after(async () => {
  await world?.close();
  await bridge?.close();
});

type MessagingRouteId = Extract<RouteId, `services.messaging.${string}`>;
interface Asking {
  readonly route: MessagingRouteId;
  readonly operation: MessagingBridgeOperation;
  readonly ask: () => Promise<RawAnswer>;
}

const act = (what: 'accept' | 'decline' | 'leave' | 'block'): Asking => ({
  route: `services.messaging.${what}`,
  operation: what,
  ask: () => ada.act(opened.id, what),
});
let transactions = 0;
const askings: readonly Asking[] = [
  { route: 'services.messaging.identity', operation: 'identity', ask: () => ada.call('/identity') },
  { route: 'services.messaging.resolve', operation: 'resolve', ask: () => ada.call(`/contacts/${ALICE}`) },
  { route: 'services.messaging.conversations', operation: 'conversations', ask: () => ada.call('/conversations') },
  {
    route: 'services.messaging.direct',
    operation: 'direct',
    ask: () => ada.call('/conversations/direct', { body: { to: ALICE } }),
  },
  {
    route: 'services.messaging.messages',
    operation: 'messages',
    ask: () => ada.call(`/conversations/${opened.id}/messages`),
  },
  {
    route: 'services.messaging.send',
    operation: 'send',
    ask: () => {
      transactions += 1;
      return ada.send(opened.id, 'Hello again', `hostile ${transactions}`);
    },
  },
  {
    route: 'services.messaging.sync',
    operation: 'sync',
    ask: () => ada.call('/sync', { body: { cursor } }),
  },
  act('accept'),
  act('decline'),
  act('leave'),
  act('block'),
  {
    route: 'services.messaging.read',
    operation: 'read',
    ask: () => ada.call(`/conversations/${opened.id}/read`, { body: { messageId } }),
  },
];

/** Ends at once with what is wrong. */
const waiting: Asking = {
  route: 'services.messaging.sync',
  operation: 'sync',
  ask: () => ada.call('/sync', { body: { cursor, timeoutMs: limits.messagingSyncWait.value } }),
};

const SURPLUS = [
  'ciphertext',
  'access_token',
  'device_lists',
  'one_time_key_counts',
  'room_keys',
  'events',
  'to_device',
  'body_html',
  '__proto__',
  'constructor',
  'address',
  'token',
];

/** `value` with further members in each of its objects. */
function withSurplus(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => withSurplus(one, names));
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.entries(value).map(([name, one]) => [name, withSurplus(one, names)] as const);
  const surplus = names
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => [name, { [`${SECRET}-member`]: [SECRET] }] as const);
  return Object.fromEntries([...own, ...surplus]);
}

/** `value` with another one at the place of a member or an item, chosen by `at`. */
function altered(value: unknown, at: number, other: unknown): unknown {
  const places: (() => void)[] = [];
  const copy = structuredClone(value);
  const walk = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    const holder = one as Record<string, unknown>;
    for (const name of Object.keys(holder)) {
      places.push(() => {
        holder[name] = other;
      });
      walk(holder[name]);
    }
  };
  walk(copy);
  places[at % Math.max(1, places.length)]?.();
  return copy;
}

/** Ways in which an answer is no answer: each must be refused. */
const broken: Readonly<Record<string, (truth: BridgeReply) => BridgeReply>> = {
  'of another account': (truth) => withMembers(truth, { userId: `@ben:${SERVER}` }),
  'in another case': (truth) => withMembers(truth, { userId: `@Ada:${SERVER}` }),
  'without an account': (truth) => withMembers(truth, { userId: undefined }),
  'not provisioned': (truth) => withMembers(truth, { provisioned: false }),
  'silent about provisioning': (truth) => withMembers(truth, { provisioned: undefined }),
  'of a later version': (truth) => withMembers(truth, { version: 2 }),
  'of a version in words': (truth) => withMembers(truth, { version: '1' }),
  'without a result': (truth) => withMembers(truth, { result: undefined }),
  'no JSON': () => ({ status: 200, body: `{"${SECRET}"` }),
  'no UTF-8': () => ({ status: 200, body: Buffer.from([0x22, 0xff, 0x22]) }),
  'a member twice': ({ body }) => ({ status: 200, body: JSON.stringify(body).replace('{', '{"version":1,') }),
  'nested without end': () => ({ status: 200, body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }),
  'too large': (truth) => withMembers(truth, { [SECRET]: 'x'.repeat(10 * 1024 * 1024) }),
  'a redirect': (truth) => ({ ...truth, status: 307 }),
  'another success': (truth) => ({ ...truth, status: 201 }),
  'a refusal of a later version': () => ({
    status: 404,
    body: { version: 2, error: { code: 'not_found', message: SECRET } },
  }),
  'a refusal without a code': () => ({ status: 500, body: { version: 1, error: { code: SECRET, message: SECRET } } }),
  'a page of a proxy': () => ({ status: 502, body: `<h1>${SECRET}</h1>` }),
};

function withMembers({ status, body }: BridgeReply, members: object): BridgeReply {
  return { status, body: { ...(body as object), ...members } };
}

const REFUSALS = ['upstream_failed', 'transport_unavailable', 'invalid_cursor', 'conversation_conflict'];

/** The members of the contract alone, all of them, and nothing that is secret. */
function assertContract({ route }: Asking, answer: RawAnswer, label: string): void {
  assert.doesNotMatch(answer.text, /SECRET/, label);
  if (answer.status >= 400) return;
  const answers: Readonly<Record<number, unknown>> = routes[route].answers;
  const schema = answers[answer.status];
  assert.ok(schema instanceof z.ZodType, `${label}: ${answer.status}`);
  assert.ok(schema.safeParse(answer.json).success, `${label}: ${answer.text}`);
}

test('an answer with whatever else, and with anything at any place, gives members of the contract or a refusal', {
  timeout: 240_000,
}, async () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1e300,
      '',
      'x',
      '@ben:example.org',
      '!other:example.org',
      [],
      {},
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constant([{ id: '!open', encrypted: false }]),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...askings),
      fc.subarray(SURPLUS),
      fc.option(fc.record({ at: fc.nat(60), value })),
      async (asking, names, change) => {
        bridge.answer = ({ operation }, truth) => {
          if (operation !== asking.operation) return truth;
          const { status, body } = truth;
          const other = change === null ? body : altered(body, change.at, change.value);
          return { status, body: JSON.stringify(withSurplus(other, names)) };
        };
        const answer = await asking.ask();
        const label = `${asking.route} ${names} ${JSON.stringify(change)}`;
        assertContract(asking, answer, label);
        if (change === null) assert.ok(answer.status < 300, `${label}: ${answer.text}`);
        assert.notEqual(answer.status, 500, `${label}: ${answer.text}`);
      },
    ),
    { numRuns: thorough(150, 2_000) },
  );
});

for (const [what, reply] of Object.entries(broken))
  test(`an answer that is ${what} is refused on every route`, async () => {
    for (const asking of [...askings, waiting]) {
      bridge.answer = ({ operation }, truth) => (operation === asking.operation ? reply(truth) : truth);
      const answer = await asking.ask();
      assertContract(asking, answer, `${asking.route} ${what}`);
      assert.ok(REFUSALS.includes(problemCode(answer) ?? ''), `${asking.route} ${what}: ${answer.text}`);
    }
  });

test('a result of something else is refused, and what has no encryption is nowhere', async () => {
  const result =
    (change: (one: Record<string, unknown>) => object) =>
    (_: unknown, { status, body }: BridgeReply) => {
      const given = body as { result: Record<string, unknown> };
      return { status, body: { ...given, result: change(given.result) } };
    };
  const change = (name: string, members: object) =>
    result((one) => ({ ...one, [name]: { ...(one[name] as object), ...members } }));
  const asking = (operation: MessagingBridgeOperation) => askings.find((one) => one.operation === operation)?.ask;
  const cases: readonly [MessagingBridgeOperation, BridgeDouble['answer']][] = [
    ['identity', change('identity', { transportUserId: `@ben:${SERVER}` })],
    ['resolve', change('contact', { transportUserId: '@ben:example.org' })],
    ['direct', change('conversation', { encrypted: false })],
    ['direct', change('conversation', { participants: [{ transportUserId: '@ben:example.org' }] })],
    ['accept', change('conversation', { id: '!other' })],
    ['leave', change('conversation', { encrypted: false })],
    ['send', change('message', { body: 'Something else' })],
    ['send', change('message', { senderId: ALICE })],
    ['send', change('message', { conversationId: '!other' })],
    [
      'messages',
      result(({ messages }) => ({
        nextCursor: null,
        messages: (messages as object[]).map((one) => ({ ...one, conversationId: '!other' })),
      })),
    ],
    ['messages', result(({ messages }) => ({ nextCursor: null, messages: Array(60).fill((messages as object[])[0]) }))],
  ];
  for (const [operation, answer] of cases) {
    bridge.answer = (call, truth) => (call.operation === operation ? answer(call, truth) : truth);
    const given = await asking(operation)?.();
    assert.equal(given && problemCode(given), 'upstream_failed', `${operation}: ${given?.text}`);
  }

  bridge.answer = result(({ conversations, ...rest }) => ({
    ...rest,
    conversations: (conversations as object[]).flatMap((one) => [one, one, { ...one, id: '!open', encrypted: false }]),
  }));
  assert.equal((await ada.conversations()).length, 1);
  bridge.answer = result(({ conversations, messages, ...rest }) => ({
    ...rest,
    conversations: (conversations as object[]).map((one) => ({ ...one, encrypted: false })),
    messages,
  }));
  const news = await ada.sync({ cursor });
  assert.deepEqual([news.conversations, news.messages], [[], []]);
});

test('another spelling of somebody is nobody of this platform', async () => {
  for (const [userId, address] of [
    [`@Ben:${SERVER}`, `@Ben:${SERVER}`],
    [`@ben:${SERVER.toUpperCase()}`, 'unknown'],
    [`@ben:${SERVER} `, 'unknown'],
    ['@b\u202een:example.org', 'unknown'],
    [`@_bridge.bot:${SERVER}`, `@_bridge.bot:${SERVER}`],
    [`@ben:${SERVER}`, `ben@${SERVER}`],
  ]) {
    bridge.answer = (_, { status, body }) => {
      const given = body as { result: { conversations: object[] } };
      const conversations = given.result.conversations.map((one) => ({
        ...one,
        participants: [{ transportUserId: userId }],
      }));
      return { status, body: { ...given, result: { ...given.result, conversations } } };
    };
    const [one] = await ada.conversations();
    assert.equal(one?.participants[0]?.address, address, userId);
  }
});

test('a bridge that never answers, that does not know the token, and that is not there', async (t) => {
  bridge.answer = () => 'never';
  const { context } = world.core;
  const subject = {
    accountId: 'acct-1',
    platformName: 'ada',
    platformAddress: `ada@${SERVER}`,
    transportUserId: `@ada:${SERVER}`,
  };
  const clientOf = (options: object) => {
    const client = new BridgeClient(context, { url: bridge.url, token: BRIDGE_TOKEN, ...options });
    t.after(() => client.close());
    return client;
  };
  const code = async (work: Promise<unknown>) =>
    work.then(
      () => 'answered',
      (error: { refusal?: { code: string } }) => error.refusal?.code,
    );
  assert.equal(await code(clientOf({ patience: 50 }).call(subject, 'identity', {})), 'upstream_timeout');
  const leaving = new AbortController();
  const given = clientOf({}).call(subject, 'identity', {}, { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await assert.rejects(given, /left/);
  bridge.answer = (_, truth) => truth;
  assert.equal(await code(clientOf({ token: 'x'.repeat(32) }).call(subject, 'identity', {})), 'transport_unavailable');
  const nowhere = clientOf({ url: 'http://127.0.0.1:1' });
  assert.equal(await code(nowhere.call(subject, 'identity', {})), 'transport_unavailable');
  assert.equal(await code(nowhere.call(subject, 'identity', {})), 'transport_unavailable');
  const said = world.log.filter(({ message }) => message === 'the messaging bridge cannot be reached');
  assert.equal(said.length, 1, 'an outage is logged once');
});
