// Schemathesis, a tool that knows nothing of this platform, reads openapi.json and calls every operation with every kind of
// credential: no bug, no status, content type, header or answer that the document does not have, and nothing accepted
// that its schema refuses.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiCaller, type ApiServer, type ApiWorld, startApiWorld } from '../support/api-world.ts';
import { lockedPython } from '../support/locked-python.ts';
import { testSeed, thorough } from '../support/thorough.ts';
import { type ApiOperation, everyOperation, runSchemathesis } from './openapi/run-schemathesis.ts';

const REQUIREMENTS = path.join(import.meta.dirname, 'openapi/requirements.txt');
const EXAMPLES = thorough(4, 100);
const LIMIT = { timeout: thorough(600_000, 5_400_000) };

/** What ends the credential it is called with, or all that runs for the account: called last, each with a credential of its own. */
const ENDING = new Set(['auth.logout', 'auth.sessions.revoke', 'author.logout', 'node.leave', 'runtime.pause']);

/** In this order: the last ones take the node away. */
const RUNS: readonly (readonly [ApiCaller, ApiServer])[] = [
  ['none', 'platform'],
  ['session', 'platform'],
  ['author', 'platform'],
  ['frontend', 'platform'],
  ['gateway', 'platform'],
  ['connection', 'connect'],
  ['installation', 'gateway'],
  ['providerKey', 'gateway'],
  ['storageToken', 'objectStorage'],
  ['client', 'node'],
  ['none', 'app'],
  ['ingress', 'platform'],
  ['node', 'platform'],
];

let folder: string;
let world: ApiWorld;
let packages: string | null = null;
let operations: readonly ApiOperation[] = [];

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'openapi-'));
  operations = await everyOperation();
  packages = await lockedPython(REQUIREMENTS).catch(() => null);
  if (packages !== null) world = await startApiWorld();
}, LIMIT);
after(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

test('every operation is called by everybody who may', () => {
  const called = (caller: ApiCaller, server: ApiServer) => RUNS.some(([one, at]) => one === caller && at === server);
  const left = operations.flatMap(({ operationId, server, callers }) =>
    callers.filter((caller) => !called(caller, server)).map((caller) => `${operationId} as ${caller} at ${server}`),
  );
  assert.deepEqual(left, []);
  assert.ok(operations.length > 150);
  for (const id of ENDING)
    assert.ok(
      operations.some(({ operationId }) => operationId === id),
      id,
    );
});

for (const [caller, server] of RUNS) {
  test(`the platform answers as openapi.json says: ${caller} at ${server}`, LIMIT, async (t) => {
    if (packages === null) return t.skip('needs Python with venv, and a package index');
    const seed = testSeed();
    t.diagnostic(`PLATFORM_TEST_SEED=${seed}`);
    const own = operations.filter((one) => one.server === server && one.callers.includes(caller));
    const ending = own.filter(({ operationId }) => ENDING.has(operationId));
    const going = own.filter(({ operationId }) => !ENDING.has(operationId));
    for (const some of [going, ...ending.map((one) => [one])]) {
      if (some.length === 0) continue;
      const run = { caller, server, operations: some, examples: EXAMPLES, seed };
      const { text, exitCode, statuses } = await runSchemathesis(world, run, { packages, folder });
      t.diagnostic(`${some.length} operations, ${JSON.stringify(statuses)}`);
      assert.equal(exitCode, 0, text);
      const total = Object.values(statuses).reduce((sum, times) => sum + times, 0);
      assert.ok(total >= some.length, text);
      // Its credential counted.
      assert.ok(some !== going || total > (statuses[401] ?? 0) + (statuses[403] ?? 0), text);
    }
  });
}
