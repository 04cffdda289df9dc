// What another installation, a former start, a former installation or another account can do with ids, tokens and cursors
// of an app's runs: nothing, and no answer tells them anything.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import {
  assertRefused,
  claimedFrom,
  eventsOf,
  RUNS,
  runFrom,
  type Workflows,
  workflowsOf,
} from '../../test-support/workflows.ts';

const MARK = 'of-the-shop-alone';

let platform: Constellation;
let owner: TestAccount;
let shop: InstalledTestApp;
let runs: Workflows;
let strangers: Readonly<Record<string, InstalledTestApp>>;

before(async () => {
  platform = await startConstellation();
  owner = await registerAccount(platform, 'merchant');
  const other = await registerAccount(platform, 'somebody');
  shop = await installTestApp(platform, owner, 'shop', []);
  runs = workflowsOf(shop);
  strangers = {
    'another app of the account': await installTestApp(platform, owner, 'neighbour', []),
    'another account’s installation of the same app': await installTestApp(platform, other, 'shop', []),
  };
});
after(() => platform.close());

/** Everything that is kept of runs, without rows of strangers. */
async function kept(): Promise<unknown> {
  const { pool } = platform.core.context;
  const of = async (table: string, run: string) =>
    (
      await pool.query(
        `SELECT * FROM ${table} WHERE ${run} IN (SELECT id FROM workflow_runs WHERE installation_id = $1) ORDER BY 1, 2`,
        [shop.installationId],
      )
    ).rows;
  return [
    await of('workflow_runs', 'id'),
    await of('workflow_activities', 'run_id'),
    await of('workflow_history', 'run_id'),
  ];
}

/** Everything that can be called with what one run gave out. */
function everyCall(
  workflows: Workflows,
  { id, activity, leaseToken }: { id: string; activity: string; leaseToken: string },
): readonly (readonly [string, () => Promise<RawAnswer>])[] {
  return [
    ['read', () => workflows.read(id)],
    ['history', () => workflows.history(id)],
    ['renew', () => workflows.renew(id, activity, leaseToken)],
    ['complete', () => workflows.complete(id, activity, { leaseToken, result: 'theirs' })],
    ['give back', () => workflows.complete(id, activity, { leaseToken, error: { message: 'theirs' } })],
    ['claim the same', () => workflows.claim(id, 'step', { activity: MARK, input: MARK })],
    ['claim another', () => workflows.claim(id, 'theirs', { activity: 'theirs' })],
    ['end', () => workflows.end(id, { status: 'completed', result: 'theirs' })],
    ['fail', () => workflows.end(id, { status: 'failed', error: { message: 'theirs' } })],
    ['remove', () => workflows.remove(id)],
  ];
}

async function begun(idempotencyKey: string) {
  const { id } = runFrom(await runs.create({ definition: MARK, idempotencyKey, input: { value: MARK } }), 201);
  const { id: activity, leaseToken } = claimedFrom(await runs.claim(id, 'step', { activity: MARK, input: MARK }));
  return { id, activity, leaseToken };
}

test('ids and tokens of one installation open nothing for another, which cannot tell them from made-up ones', async () => {
  const given = await begun('given');
  const missing = { ...given, id: given.id.replace(/.{4}$/, '0000') };
  const before = await kept();
  for (const [who, stranger] of Object.entries(strangers)) {
    const workflows = workflowsOf(stranger);
    const made = everyCall(workflows, missing);
    for (const [index, [what, call]] of everyCall(workflows, given).entries()) {
      const answer = await call();
      assertRefused(answer, 404, 'not_found');
      assert.ok(!answer.text.includes(MARK), `${who}: ${what}`);
      const unknown = (await made[index]?.[1]()) ?? assert.fail();
      const without = ({ text }: RawAnswer) => text.replace(/"requestId":"[^"]*"/, '');
      assert.equal(without(answer), without(unknown), `${who}: ${what}`);
    }
  }
  assert.deepEqual(await kept(), before);
  assert.equal(
    (await runs.complete(given.id, given.activity, { leaseToken: given.leaseToken, result: 1 })).status,
    200,
  );
});

test('an activity and its token are worth nothing in another run of the same app', async () => {
  const [one, two] = [await begun('one'), await begun('two')];
  for (const crossed of [
    { ...one, activity: two.activity },
    { ...one, activity: two.activity, leaseToken: two.leaseToken },
  ]) {
    const { id, activity, leaseToken } = crossed;
    assertRefused(await runs.renew(id, activity, leaseToken), 404, 'not_found');
    assertRefused(await runs.complete(id, activity, { leaseToken, result: 1 }), 404, 'not_found');
  }
  const { id, activity } = one;
  assertRefused(await runs.renew(id, activity, two.leaseToken), 409, 'lease_lost');
  assertRefused(await runs.complete(id, activity, { leaseToken: two.leaseToken, result: 1 }), 409, 'lease_lost');
});

test('the identity of a run is the installation’s own, and lists show no others', async () => {
  const { id } = await begun('identity');
  for (const stranger of Object.values(strangers)) {
    const workflows = workflowsOf(stranger);
    const same = { definition: MARK, idempotencyKey: 'identity', input: 'another' };
    const own = runFrom(await workflows.create(same), 201);
    assert.notEqual(own.id, id);
    const { items } = (await workflows.list()).json as { items: { id: string }[] };
    assert.deepEqual(
      items.map((run) => run.id),
      [own.id],
    );
  }
});

test('cursors are worth nothing elsewhere, and none can be made up', async () => {
  const { id } = await begun('cursors');
  const cursorOf = async (answer: RawAnswer) => String((answer.json as { nextCursor: string | null }).nextCursor);
  const ofList = await cursorOf(await runs.list('?limit=1'));
  const ofHistory = await cursorOf(await runs.history(id, '?limit=1'));
  const session = await owner.fetch(`/v1/apps/shop/workflows?limit=1&cursor=${ofList}`);
  assert.equal(session.status, 200, 'the owner sees the same list');
  const flipped = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
  const forged = [
    ...Array.from({ length: ofList.length }, (_, at) => flipped(ofList, at)),
    ...[
      '',
      'A',
      ofList + ofList,
      `${ofList}A`,
      `${ofList}=`,
      ` ${ofList}`,
      ofHistory,
      Buffer.from('"wf-"').toString('base64url'),
    ],
  ].filter((one) => one !== ofList);
  for (const cursor of forged) {
    const answer = await runs.list(`?limit=1&cursor=${encodeURIComponent(cursor)}`);
    assert.ok(answer.status === 400, `${cursor}: ${answer.text}`);
  }
  for (const stranger of Object.values(strangers)) {
    assertRefused(await workflowsOf(stranger).list(`?cursor=${ofList}`), 400, 'invalid_cursor');
    const answer = await workflowsOf(stranger).history(id, `?cursor=${ofHistory}`);
    assertRefused(answer, 404, 'not_found');
  }
});

test('every other kind of caller is refused', async () => {
  const { id, activity, leaseToken } = await begun('kinds');
  const { capability } = await shop.openFrontend();
  const before = await kept();
  const credentials = {
    'a frontend': capability,
    'a node': platform.core.localNode.nodeCredential,
    'a made-up one': `pcs_${'A'.repeat(43)}`,
    'a lease token': leaseToken,
  };
  for (const [who, credential] of Object.entries(credentials))
    for (const [method, path, body] of [
      ['GET', RUNS, undefined],
      ['GET', `${RUNS}/${id}`, undefined],
      ['DELETE', `${RUNS}/${id}`, undefined],
      ['POST', `${RUNS}/${id}/activities/${activity}/complete`, { leaseToken, result: 1 }],
    ] as const) {
      const answer = await rawRequest({
        port: platform.port,
        method,
        path,
        headers: {
          host: new URL(platform.origin).host,
          authorization: `Bearer ${credential}`,
          'content-type': 'application/json',
          ...(who === 'a frontend' ? { origin: shop.origin } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      assert.ok([401, 403].includes(answer.status), `${who}: ${answer.status} ${answer.text}`);
    }
  assert.deepEqual(await kept(), before);
});

test('of ending, cancelling and completing at the same time one wins, and the history has no gap', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { id, activity, leaseToken } = await begun(`race-${round}`);
    const answers = await Promise.all([
      runs.end(id, { status: 'completed', result: 1 }),
      runs.remove(id),
      runs.end(id, { status: 'failed', error: { message: 'no' } }),
      runs.complete(id, activity, { leaseToken, result: 1 }),
      runs.claim(id, 'more'),
      runs.renew(id, activity, leaseToken),
    ]);
    assert.ok(answers.every(({ status }) => status < 500));
    // The second one that deletes removes it.
    if ((await runs.read(id)).status === 404) continue;
    const events = await eventsOf(runs, id);
    assert.deepEqual(
      events.map((event) => Number(event.split(' ')[0])),
      events.map((_, index) => index + 1),
    );
    const ends = events.filter((event) => /^\d+ (?:completed|failed|cancelled)$/.test(event));
    assert.equal(ends.length, 1, events.join('\n'));
    assert.equal(events.at(-1), ends[0]);
  }
});

test('a former start and a former installation are over: no call, no run, no list', async () => {
  const given = await begun('former');
  const former = shop.credential;
  const withFormer = (path: string) => shop.call(path, { headers: { authorization: `Bearer ${former}` } });
  await shop.restart();
  assertRefused(await withFormer(`${RUNS}/${given.id}`), 401, 'unauthenticated');
  assert.equal((await runs.renew(given.id, given.activity, given.leaseToken)).status, 200, 'the lease is the app’s');
  assert.equal((await owner.fetch('/v1/apps/shop', { method: 'DELETE' })).status, 204);
  assertRefused(await runs.read(given.id), 401, 'unauthenticated');
  const again = await installTestApp(platform, owner, 'shop', []);
  assertRefused(await withFormer(RUNS), 401, 'unauthenticated');
  const workflows = workflowsOf(again);
  for (const [what, call] of everyCall(workflows, given)) {
    const answer = await call();
    assert.deepEqual([what, answer.status], [what, 404], answer.text);
  }
  assert.deepEqual(((await workflows.list()).json as { items: unknown[] }).items, []);
  assert.deepEqual((await owner.fetch('/v1/apps/shop/workflows')).json, { items: [], nextCursor: null });
  assertRefused(await owner.fetch(`/v1/apps/shop/workflows/${given.id}`), 404, 'not_found');
  runFrom(await workflows.create({ definition: MARK, idempotencyKey: 'former', input: 'another' }), 201);
});
