// A backend in Rust, static, of runtime "binary", in the process driver: it is killed in the middle of a step, and its next
// start finishes the workflow.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { InstallationId } from '@platform/contract';
import { installationRow } from '../../packages/core/test-support/apps.ts';
import { descendants } from '../../packages/runtime/test-support/processes.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { buildRustPrograms } from '../support/rust.ts';
import { until } from '../support/wait.ts';

const LEASE_MS = 60_000;
const START_MS = 60_000;

/** Before the first test, whose limit does not fit a first build. */
const rust = await buildRustPrograms();
let world: Constellation;
let node: RealNode | undefined;
let account: TestAccount;
let id: InstallationId;
let ahead = 0;

before(async () => {
  if (rust.missing !== null) return;
  // The node stays known when the clock is set forward.
  const config = { nodeLostMilliseconds: 10 * LEASE_MS };
  world = await startConstellation({ clock: () => new Date(Date.now() + ahead), config });
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  account = await registerAccount(world, 'merchant');
  const workload = { runtime: 'binary', entry: 'orders', volume: true };
  const files = { 'workload/orders': await readFile(rust.program('orders')), 'frontend/index.html': '' };
  await publishTestApp(account, 'rust-orders', { workload }, files);
  await account.browser.take('/v1/apps', { body: { appId: 'rust-orders' } });
  id = (await installationRow(world, account, 'rust-orders')).id;
});
after(async () => {
  await node?.stop();
  await world?.close();
});

async function ask(method: string, path: string): Promise<string> {
  const answer = await world.core.context.backends.call(id, { method, path, signal: AbortSignal.timeout(START_MS) });
  return (await answer.read(65_536)).toString('utf8');
}

const ledger = async () => (await ask('GET', '/ledger')).split('\n').slice(0, -1);

/** The workload's own process, by the name of its file. */
function workload() {
  const found = descendants(process.pid).find(({ pid }) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'orders\n');
  assert.ok(found !== undefined, 'the workload runs');
  return found;
}

test('a workload in Rust that is killed while it executes a step finishes the workflow at its next start', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  await ask('POST', '/orders/17');
  await until('it charges', async () => (await ledger()).length === 2, START_MS);
  const killed = workload();
  process.kill(killed.pid, 'SIGKILL');
  await until('it is gone', () => !killed.alive());
  // The lease of the step that it was executing.
  ahead += LEASE_MS;
  // A call starts it again, once the Runtime has noticed that it ended.
  const again = async () => (await ledger().catch(() => [])).length === 3;
  await until('it charges again', again, START_MS);
  assert.notEqual(workload().pid, killed.pid);
  assert.match(await ask('GET', '/orders/17'), /^running/);
  await ask('POST', '/orders/17/confirm');
  await until('it ends', async () => (await ask('GET', '/orders/17')).startsWith('completed'), START_MS);

  const lines = (await ledger()).map((line) => line.split(' '));
  const [, charge] = lines.map(([, key]) => key);
  assert.deepEqual(
    lines.map(([what, key, ...rest]) => [what, key === charge, ...rest].join(' ')),
    [
      'reserve false done in attempt 1',
      'charge true done in attempt 1',
      'charge true known in attempt 2',
      'mail false done in attempt 1',
    ],
  );
  assert.match(await ask('GET', '/orders/17'), new RegExp(`^completed "reserve-act-\\S+ charge-${charge}"$`));
});

test('one that is stopped gives its step back, and the next start takes it at once', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  const before = await ledger();
  await ask('POST', '/orders/18');
  await until('it charges', async () => (await ledger()).length === before.length + 2, START_MS);
  const stopped = workload();
  await account.browser.take('/v1/apps/rust-orders/stop', { method: 'POST' });
  await until('it is gone', () => !stopped.alive(), START_MS);
  await account.browser.take('/v1/apps/rust-orders/start', { method: 'POST' });
  const again = async () => (await ledger().catch(() => [])).slice(before.length);
  await until('it charges again', async () => (await again()).length === 3, START_MS);
  const [, first, second] = await again();
  assert.match(first ?? '', /^charge \S+ done in attempt 1$/);
  assert.equal(second, first?.replace('done in attempt 1', 'known in attempt 2'));
});
