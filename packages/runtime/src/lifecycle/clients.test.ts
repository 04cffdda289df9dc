// Which capabilities of clients a node accepts: what core said, as long as it counts, and never more questions than needed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { limits, RefusalError } from '@platform/contract';
import { type HeldClock, holdClock } from '../../test-support/held-clock.ts';
import { Clients } from './clients.ts';

const HOUR = 3_600_000;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const capability = (number: number) => `pdc_${String(number).padStart(43, '0')}`;
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');

let clock: HeldClock;
let clients: Clients;
/** What core takes for valid: milliseconds by hash. */
let valid: Map<string, number>;
let questions: (readonly string[])[];
/** Replaces the next answer of core. */
let nextAnswer: (() => Promise<ReadonlyMap<string, number>>) | undefined;

beforeEach(() => {
  clock = holdClock();
  valid = new Map([[hashOf(capability(1)), 12 * HOUR]]);
  questions = [];
  nextAnswer = undefined;
  // Core, without a network between.
  const core = {
    async validCapabilities(_id: string, hashes: readonly string[]) {
      questions.push(hashes);
      const scripted = nextAnswer;
      nextAnswer = undefined;
      if (scripted !== undefined) return scripted();
      return new Map([...valid].filter(([hash]) => hashes.includes(hash)));
    },
  };
  clients = new Clients({ installationId: 'inst-1', core, clock, log: silent });
});

/** One request; `ended` becomes true when the node has to end it. */
async function begin(presented: string | undefined, address = '192.0.2.1') {
  const request = { ended: false, release: () => {} };
  const end = () => {
    request.ended = true;
  };
  request.release = await clients.admit({ capability: presented, address, end });
  return request;
}

async function refusal(presented: string | undefined, address?: string): Promise<string> {
  const error = await begin(presented, address).catch((thrown: unknown) => thrown);
  return error instanceof RefusalError ? error.refusal.code : assert.fail(String(error));
}

test('core is asked once about a capability, and not about what cannot be one', async () => {
  await Promise.all([begin(capability(1)), begin(capability(1)), begin(capability(1))]);
  await begin(capability(1));
  for (const wrong of [
    undefined,
    '',
    'pdc_',
    `${capability(1)}x`,
    capability(1).replace('pdc_', 'pfc_'),
    'x'.repeat(47),
  ])
    assert.equal(await refusal(wrong), 'unauthenticated');
  assert.deepEqual(questions, [[hashOf(capability(1))]]);
});

test('a clock that is set ends no client, and lets none stay longer', async () => {
  for (const by of [100 * 86_400_000, -200 * 86_400_000]) {
    const request = await begin(capability(1));
    clock.set(by);
    clock.advance(1_000);
    await begin(capability(1));
    assert.equal(request.ended, false);
  }
  assert.equal(questions.length, 1, 'core is asked once');
});

test('core is told the hash alone', async () => {
  await begin(capability(1));
  assert.ok(!JSON.stringify(questions).includes(capability(1)));
});

test('what was begun with a capability ends with it, and nothing begins afterwards', async () => {
  const running = await begin(capability(1));
  const over = await begin(capability(1));
  over.release();
  clock.advance(12 * HOUR - 1);
  assert.equal(running.ended, false);
  valid.clear();
  clock.advance(1);
  assert.deepEqual([running.ended, over.ended], [true, false]);
  assert.equal(await refusal(capability(1)), 'unauthenticated');
});

test('when capabilities have ended, those that are left go on, and the others end', async () => {
  valid.set(hashOf(capability(2)), HOUR);
  const [stays, ends] = [await begin(capability(1)), await begin(capability(2))];
  valid.delete(hashOf(capability(2)));
  await clients.recheck();
  assert.deepEqual([stays.ended, ends.ended], [false, true]);
  assert.equal(await refusal(capability(2)), 'unauthenticated');
  const asked = questions.length;
  await begin(capability(1));
  assert.equal(questions.length, asked);
});

test('a capability without a request under way is asked about at its next use', async () => {
  (await begin(capability(1))).release();
  valid.clear();
  await clients.recheck();
  assert.equal(questions.length, 1);
  assert.equal(await refusal(capability(1)), 'unauthenticated');
  assert.equal(questions.length, 2);
});

test('an answer that was overtaken by an end does not count', async () => {
  const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, number>>();
  nextAnswer = () => promise;
  const begun = refusal(capability(1));
  const former = new Map(valid);
  valid.clear();
  await clients.recheck();
  resolve(former);
  assert.equal(await begun, 'unauthenticated');
  assert.equal(questions.length, 2);
});

test('without an answer from core nobody new is let in, and an end that cannot be asked about ends everything', async () => {
  const known = await begin(capability(1));
  valid.set(hashOf(capability(2)), HOUR);
  nextAnswer = () => Promise.reject(new Error('core is not reached'));
  assert.equal(await refusal(capability(2)), 'workload_unavailable');
  await begin(capability(1));
  nextAnswer = () => Promise.reject(new Error('core is not reached'));
  await clients.recheck();
  assert.equal(known.ended, true);
  await begin(capability(2));
});

test('what ends soon is asked about until core answers, and goes on until then', async () => {
  const running = await begin(capability(1));
  valid.clear();
  nextAnswer = () => Promise.reject(new Error('core is not reached'));
  await clients.refresh();
  assert.equal(running.ended, false);
  clock.advance(10_000);
  // The question that the timer asked has been answered by the next one.
  await clients.refresh();
  assert.equal(running.ended, true);
});

test('an address that guesses costs core a question now and then, and shuts out nobody behind it or elsewhere', async () => {
  await begin(capability(1));
  const most = limits.guessedCapabilities.value;
  for (let guess = 0; guess < most; guess += 1)
    assert.equal(await refusal(capability(100 + guess), '198.51.100.7'), 'unauthenticated');
  assert.equal(questions.length, 1 + most);
  valid.set(hashOf(capability(2)), HOUR);
  valid.set(hashOf(capability(3)), HOUR);
  // A rightful client among more guesses than core is asked about at once.
  const guesses = [];
  for (let guess = 0; guess < 50; guess += 1) guesses.push(refusal(capability(200 + guess), '198.51.100.7'));
  await begin(capability(2), '198.51.100.7');
  assert.deepEqual(new Set(await Promise.all(guesses)), new Set(['rate_limited']));
  assert.equal(questions.length, 2 + most);
  // The next ones wait, whoever comes.
  const waiting = Promise.all([
    ...Array.from({ length: 200 }, (_, guess) => refusal(capability(300 + guess), '198.51.100.7')),
    begin(capability(3), '198.51.100.8').then(() => 'elsewhere'),
  ]);
  await begin(capability(1), '198.51.100.7');
  assert.equal(questions.length, 3 + most, 'of the other address, at once');
  clock.advance(250);
  assert.deepEqual(new Set(await waiting), new Set(['rate_limited', 'elsewhere']));
  assert.equal(questions.length, 4 + most);
  assert.ok(questions.every((hashes) => hashes.length <= 64));
  clock.advance(60_000);
  assert.equal(await refusal(capability(999), '198.51.100.7'), 'unauthenticated');
});

test('among those that guess, the address with the most makes room for another', async () => {
  for (const address of ['198.51.100.7', '198.51.100.8'])
    for (let guess = 0; guess < limits.guessedCapabilities.value; guess += 1)
      await refusal(capability(10_000 + guess + Number(address.at(-1)) * 100), address);
  valid.set(hashOf(capability(2)), HOUR);
  const flood = Array.from({ length: 500 }, (_, guess) => refusal(capability(20_000 + guess), '198.51.100.7'));
  await begin(capability(2), '198.51.100.8');
  assert.deepEqual(new Set(await Promise.all(flood)), new Set(['rate_limited']));
});

test('while core cannot be asked, clients that wait are refused with that reason', async () => {
  for (let guess = 0; guess < limits.guessedCapabilities.value; guess += 1) await refusal(capability(100 + guess));
  nextAnswer = () => Promise.reject(new Error('core is not reached'));
  assert.equal(await refusal(capability(999)), 'workload_unavailable');
});

test('valid capabilities are no guesses, however many there are', async () => {
  for (let number = 0; number < 3 * limits.guessedCapabilities.value; number += 1) {
    valid.set(hashOf(capability(1_000 + number)), HOUR);
    await begin(capability(1_000 + number));
  }
});

test('everything ends at once when the app is removed', async () => {
  const running = await begin(capability(1));
  clients.endAll();
  assert.equal(running.ended, true);
  assert.equal(clock.timers().length, 0);
});
