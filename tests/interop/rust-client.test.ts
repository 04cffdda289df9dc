// The Rust client as a workload uses it: its conformance program, with the environment of a workload, through a real
// Gateway to a real core.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { FRIEND } from '../sdk/suite/messaging-cases.ts';
import { type AppGateway, openAppGateway } from '../support/app-gateway.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';
import { buildRustPrograms } from '../support/rust.ts';

const run = promisify(execFile);
const RUN_MS = 120_000;

/** Before the first test, whose limit does not fit a first build. */
const rust = await buildRustPrograms();
let world: Constellation | undefined;
let account: TestAccount;
let gateway: AppGateway | undefined;

before(async () => {
  if (rust.missing !== null) return;
  world = await startConstellation();
  account = await registerAccount(world, 'rust-user');
  await registerAccount(world, FRIEND);
  const app = await installTestApp(world, account, 'rust-suite', [
    { id: 'notifications.publish', resources: ['suite.*'] },
    { id: 'notifications.read', resources: ['suite.*'] },
    { id: 'search.index', resources: ['self'] },
    { id: 'apps.catalog.read', resources: ['rust-suite', 'launcher'] },
    { id: 'messaging.read', resources: ['*'] },
    { id: 'messaging.send', resources: ['*'] },
    { id: 'messaging.resolve', resources: ['*'] },
    { id: 'wallet.payment.propose', resources: ['*'] },
    { id: 'wallet.policy.propose', resources: ['*'] },
    { id: 'content.collections.manage', resources: ['list:*'] },
  ]);
  gateway = await openAppGateway(world, app);
});
after(async () => {
  await gateway?.close();
  await world?.close();
});

test('every case of the conformance program holds, and what it indexed is found', async (t) => {
  if (rust.missing !== null || gateway === undefined) return t.skip(rust.missing ?? '');
  const { stdout } = await run(rust.program('conformance'), { env: gateway.environment, timeout: RUN_MS });
  const source = await readFile(new URL('../../sdk-rust/examples/conformance.rs', import.meta.url), 'utf8');
  const cases = /cases!\(\s+&platform,([\s\w,]+)\);/.exec(source)?.[1]?.match(/\w+/g) ?? [];
  assert.ok(cases.length >= 20);
  assert.deepEqual(stdout.trim().split('\n'), cases);
  const { items } = await account.browser.take<{ items: { id: string }[] }>('/v1/search?q=aardvark');
  assert.deepEqual(
    items.map(({ id }) => id),
    ['a'],
  );
});

test('a process that the platform did not start is told so', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  await assert.rejects(
    run(rust.program('conformance'), { env: {}, timeout: RUN_MS }),
    /was not started by the platform/,
  );
});
