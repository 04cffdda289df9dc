// Values that would come back as something else, and other bodies that are refused; what is odd and passes comes back as
// it was sent.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { assertRefused, claimedFrom, RUNS, runFrom, workflowsOf } from '../../test-support/workflows.ts';

let platform: Constellation;
let app: InstalledTestApp;
let key = 0;

before(async () => {
  platform = await startConstellation({});
  app = await installTestApp(platform, await registerAccount(platform, 'tester'), 'tester-app', []);
});
after(() => platform.close());

function create(input: string) {
  key += 1;
  const text = `{"definition":"d","version":1,"idempotencyKey":"k${key}","durationSeconds":60,"input":${input}}`;
  return app.call(RUNS, { body: Buffer.from(text) });
}

const REFUSED: readonly (readonly [string, string])[] = [
  ['a repeated member', '{"a":1,"a":1}'],
  ['a repeated member, once escaped', '{"a":1,"\\u0061":2}'],
  ['a repeated member deep inside', '[[{"x":{"a":1,"b":2,"a":3}}]]'],
  ['a repeated __proto__', '{"__proto__":1,"__proto__":2}'],
  ['an integer beyond 2^53', '9007199254740993'],
  ['a negative one', '{"n":-9007199254740993}'],
  ['a number beyond a double', '1e400'],
  ['half of a surrogate pair', '"\\ud800"'],
  ['half of a surrogate pair in a name', '{"\\udc00":1}'],
  ['NUL', '"\\u0000"'],
  ['10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
  ['33 levels', `${'['.repeat(32)}${']'.repeat(32)}`],
  ['no JSON', '{a:1}'],
  ['NaN', 'NaN'],
];

for (const [what, input] of REFUSED) {
  test(`${what} is refused`, async () => {
    assertRefused(await create(input), 400, 'invalid_request');
  });
}

const KEPT = [
  '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
  '{"":0,"a:b":"x:y","\\"":"\\\\\\":"}',
  '[9007199254740991,-9007199254740991,1e21,0.1,5e-324,-0]',
  `${'['.repeat(31)}${']'.repeat(31)}`,
  '"\\ud83d\\ude00 😀 \\u2028"',
  'null',
  'false',
  '{"b":1,"a":2,"10":3}',
];

test('a value far too large is refused before it is parsed, also where it would be refused for its content', async () => {
  const members = Array.from({ length: 10_000 }, (_, index) => `"m${index}":1`);
  assertRefused(await create(`{${members},"m0":2}`), 413, 'workflow_input_too_large');
  const { id } = runFrom(await create('null'), 201);
  const claim = claimedFrom(await workflowsOf(app).claim(id, 'step'));
  const result = 'x'.repeat(100_000);
  const { leaseToken } = claim;
  assertRefused(
    await workflowsOf(app).complete(id, claim.id, { leaseToken, result }),
    413,
    'workflow_result_too_large',
  );
  const escaped = `"${'\\u0061'.repeat(20_000)}"`;
  assert.equal(runFrom(await create(escaped), 201).input, 'a'.repeat(20_000));
});

for (const input of KEPT) {
  test(`${input.slice(0, 60)} comes back`, async () => {
    const run = runFrom(await create(input), 201);
    const read = await app.call(`${RUNS}/${run.id}`);
    assert.equal(
      JSON.stringify((read.json as { run: { input: unknown } }).run.input),
      JSON.stringify(JSON.parse(input)),
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
}

test('other bodies are refused before anything changes', async () => {
  const workflows = workflowsOf(app);
  const { id } = runFrom(await workflows.create({ idempotencyKey: 'bodies' }), 201);
  const claim = claimedFrom(await workflows.claim(id, 'step'));
  const { leaseToken } = claim;
  const wrong = [
    await workflows.create({ version: 1.5 }),
    await workflows.create({ version: -1 }),
    await workflows.create({ durationSeconds: 0 }),
    await workflows.create({ durationSeconds: 604_801 }),
    await workflows.create({ idempotencyKey: '' }),
    await workflows.create({ idempotencyKey: 'x'.repeat(201) }),
    await workflows.create({ definition: 'two\nlines' }),
    await workflows.create({ source: 'function () {}' }),
    await workflows.claim(id, 'a%20b'),
    await workflows.claim(id, 'x'.repeat(129)),
    await workflows.claim(id, 'step', { activity: '' }),
    await workflows.claim(id, 'step', { input: 1 }),
    await workflows.renew(id, claim.id, 'short'),
    await workflows.complete(id, claim.id, { leaseToken }),
    await workflows.complete(id, claim.id, { leaseToken, result: 1, error: { message: 'both' } }),
    await workflows.complete(id, claim.id, { leaseToken, error: 'text' }),
    await workflows.complete(id, claim.id, { leaseToken, error: { message: 'x'.repeat(2_001) } }),
    await workflows.complete(id, 'act-none', { leaseToken, result: 1 }),
    await workflows.end(id, { status: 'cancelled' }),
    await workflows.end(id, { status: 'completed', error: { message: 'no' } }),
    await workflows.end(id, { status: 'failed' }),
    await workflows.list('?status=none'),
    await workflows.list('?limit=201'),
  ];
  for (const answer of wrong) assertRefused(answer, 400, 'invalid_request');
  const run = runFrom(await workflows.read(id));
  assert.deepEqual([run.status, run.updatedAt === run.createdAt], ['running', false]);
});
