// Who may read what a platform has written: after a start, accounts, a package that was published and installed, its
// backend run, its volume and its log written to, no path of the data folder is open to other users of the machine but
// those that are named with a reason.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { openingsOf } from '../../packages/core/test-support/internals.ts';
import { registerAccount } from '../support/client.ts';
import {
  emptyPlace,
  type PlatformPlace,
  type PlatformProcess,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';

const asRoot = process.getuid?.() === 0;
const WRITER = `
  const { writeFileSync, mkdirSync } = process.getBuiltinModule('node:fs');
  mkdirSync('/volume/deep');
  writeFileSync('/volume/deep/file', 'x');
  console.log('written');
  process.getBuiltinModule('node:http').createServer((req, res) => res.end('ok')).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess;

before(async () => {
  place = await emptyPlace();
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'anna');
  const workload = { runtime: 'node', entry: 'main.mjs', volume: true };
  await publishTestApp(
    account,
    'writer',
    { workload },
    { 'workload/main.mjs': WRITER, 'frontend/index.html': 'hello' },
  );
  await account.browser.take('/v1/apps', { body: { appId: 'writer' } });
  const started = await account.fetch('/v1/apps/writer/start', { body: {} });
  assert.equal((started.json as { state: string }).state, 'running', started.text);
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

interface Open {
  readonly at: string;
  readonly bits: string;
}

/** Everything that group or others have a right to and that is no named opening. */
function openPaths(): { readonly seen: number; readonly open: Open[] } {
  const open: Open[] = [];
  let seen = 0;
  const waiting = [''];
  for (const relative of waiting) {
    const stat = lstatSync(path.join(place.dataDirectory, relative), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) continue;
    seen += 1;
    const opening = openingsOf(process.getuid?.() ?? 0).find(({ at }) => at.test(relative));
    const bits = stat.mode & 0o077;
    // A socket is protected by its folder, as the whole inside of a folder is that is closed and somebody else's to fill.
    if (!stat.isSocket() && (bits & ~(opening?.bits ?? 0)) !== 0) open.push({ at: relative, bits: bits.toString(8) });
    if (!stat.isDirectory() || opening?.inside === false) continue;
    for (const name of readdirSync(path.join(place.dataDirectory, relative))) waiting.push(path.join(relative, name));
  }
  return { seen, open };
}

test('a used data folder is for its owner alone', async () => {
  const { seen, open } = openPaths();
  assert.ok(seen > 50, `${seen} paths`);
  assert.deepEqual(open, []);
  assert.match(await runCommand(['logs', 'anna/writer'], place.environment), /written/);
});

test('a command beside the running platform opens nothing', async () => {
  await runCommand(['ps'], place.environment);
  await runCommand(['node', 'list'], place.environment);
  assert.deepEqual(openPaths().open, []);
});

test('another user of the machine gets nothing but through, to what sandboxes are given', {
  skip: !asRoot && 'needs root',
}, () => {
  const as = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const;
  const folder = place.dataDirectory;
  for (const name of ['', 'agents', 'volumes', 'runtime', 'workloads', 'postgres', 'packages', 'logs', 'node', 'run'])
    assert.notEqual(spawnSync('ls', [path.join(folder, name)], as).status, 0, `ls ${name}`);
  for (const name of ['master.key', 'instance.lock', 'run/instance.json', 'node/node.key', 'runtime/identities.json'])
    assert.notEqual(spawnSync('cat', [path.join(folder, name)], as).status, 0, `cat ${name}`);
});

test('what was opened meanwhile is closed by the next start', async () => {
  await platform.stop();
  for (const name of ['instance.lock', 'packages', 'logs', 'node', 'node/node.key', 'master.key'])
    chmodSync(path.join(place.dataDirectory, name), 0o777);
  platform = await startPlatform(place);
  assert.deepEqual(openPaths().open, []);
});
