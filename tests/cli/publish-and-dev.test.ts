// The commands of an app author against a platform as a user starts it: publish, and dev with its changes.
import { strict as assert } from 'node:assert';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PermissionsView } from '@platform/contract';
import { Command } from '../support/cli-command.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { becoming, staticBusybox } from '../support/elf.ts';
import { emptyPlace, type PlatformPlace, type PlatformProcess, startPlatform } from '../support/platform-process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let place: PlatformPlace;
let platform: PlatformProcess | undefined;
let anna: TestAccount;
let bert: TestAccount;
let folder = '';

before(async () => {
  place = await emptyPlace();
  folder = await mkdtemp(path.join(tmpdir(), 'app-author-'));
  await cp(path.join(ROOT, 'examples/notes'), path.join(folder, 'notes'), { recursive: true });
  await setManifest({ id: 'jotter' });
});
after(async () => {
  await platform?.stop();
  await place.remove();
  await rm(folder, { recursive: true, force: true });
});

function run(...args: string[]): Promise<{ code: number | null; said: string }> {
  return command(args).ends();
}

function command(args: readonly string[]): Command {
  return new Command(args, { environment: place.environment });
}

async function versionsOf(appId: string): Promise<string[]> {
  const { versions } = await anna.browser.take<{ versions: { version: string }[] }>(`/v1/catalog/${appId}`);
  return versions.map(({ version }) => version);
}

test('before the first start there is nothing to publish to', async () => {
  const { code, said } = await run('publish', path.join(folder, 'notes'));
  assert.equal(code, 1);
  assert.match(said, /There is no platform in .* yet\. Start it once/);
});

test('dev says so when no platform runs', async () => {
  const { code, said } = await run('dev', path.join(folder, 'notes'));
  assert.equal(code, 1);
  assert.match(said, /No platform answers at http:\/\/shell\.platform\.localhost:\d+ .*npm start/);
});

test('without an account, publishing says where to register one', async () => {
  platform = await startPlatform(place);
  const { code, said } = await run('publish', path.join(folder, 'notes'));
  assert.equal(code, 1);
  assert.match(said, /There is no account yet\. Open http/);
});

test('the only account publishes without being named, and a version only once', async () => {
  anna = await registerAccount(place, 'anna');
  const first = await run('publish', path.join(folder, 'notes'));
  assert.deepEqual([first.code, /Notes 1\.0\.0 is in the Store, by anna/.test(first.said)], [0, true], first.said);
  const again = await run('publish', path.join(folder, 'notes'));
  assert.equal(again.code, 1);
  assert.match(again.said, /version_exists/);
  assert.deepEqual(await versionsOf('jotter'), ['1.0.0']);
});

test('a package made before is published as it is', async () => {
  const file = path.join(folder, 'made.tgz');
  await setManifest({ id: 'made-before', version: '2.0.0' });
  const litter = ['.DS_Store', 'Thumbs.db'].map((name) => path.join(folder, 'notes', 'frontend', name));
  for (const name of litter) await writeFile(name, 'x');
  const { environment } = place;
  const packed = await new Command(['package', '-o', file], { environment, cwd: path.join(folder, 'notes') }).ends();
  assert.equal(packed.code, 0, packed.said);
  for (const name of ['.DS_Store', 'Thumbs.db'])
    assert.match(packed.said, new RegExp(`^ *left out  frontend/${name}: another program put it there$`, 'm'));
  for (const name of litter) await rm(name);
  const { code, said } = await run('publish', file, '--as', 'Anna');
  assert.equal(code, 0, said);
  assert.deepEqual(await versionsOf('made-before'), ['2.0.0']);
});

test('with several accounts one must be named, and the id stays with its owner', async () => {
  bert = await registerAccount(place, 'bert');
  await setManifest({ id: 'jotter', version: '1.1.0' });
  const notes = path.join(folder, 'notes');
  const unnamed = await run('publish', notes);
  assert.deepEqual([unnamed.code, /--as <account>/.test(unnamed.said)], [1, true], unnamed.said);
  const stranger = await run('publish', notes, '--as', 'bert');
  assert.deepEqual([stranger.code, /not_authorized/.test(stranger.said)], [1, true], stranger.said);
  const nobody = await run('publish', notes, '--as', 'nobody-here');
  assert.deepEqual([nobody.code, /no account named nobody-here/.test(nobody.said)], [1, true], nobody.said);
  assert.deepEqual(await versionsOf('jotter'), ['1.0.0']);
});

/** A folder with this manifest and a backend. */
async function project(id: string, more: object): Promise<string> {
  const made = path.join(folder, id);
  await mkdir(path.join(made, 'workload'), { recursive: true });
  await writeFile(path.join(made, 'workload/main.mjs'), 'export {};');
  const manifest = { schemaVersion: 9, id, version: '1.0.0', name: id, summary: 'A test.', ...more };
  await writeFile(path.join(made, 'manifest.json'), JSON.stringify(manifest));
  return made;
}

const SCRIPT = { runtime: 'node', entry: 'main.mjs' };

test('package and publish name what does not fit together, and go on', async () => {
  const made = await project('loose', {
    workload: SCRIPT,
    publicEndpoints: ['GET:/feed'],
    permissions: [{ id: 'wallet.payment.propose', resources: ['*'] }],
  });
  const file = path.join(folder, 'loose.tgz');
  for (const args of [
    ['package', made, '-o', file],
    ['publish', file, '--as', 'anna'],
  ]) {
    const { code, said } = await run(...args);
    assert.equal(code, 0, said);
    assert.match(said, /`publicEndpoints\[0\]` stays closed: .* endpoints\.public on GET:\/feed\./);
    assert.match(said, /`permissions\[0\]` asks for wallet\.payment\.propose, which is critical/);
  }
  assert.deepEqual(await versionsOf('loose'), ['1.0.0']);
});

test('package and publish refuse what the platform would refuse, without uploading it', async () => {
  const refused: [object, RegExp][] = [
    [
      { permissions: [{ id: 'search.indx', resources: ['self'] }] },
      /`permissions\[0\]\.id` is not a permission.*search\.index/,
    ],
    [{ permissions: [{ id: 'search.index', resources: ['*'] }] }, /must be "self", the only resource of search\.index/],
    [{ permissions: [{ id: 'files.user.manage', resources: ['*'] }] }, /system role files\.user-manager/],
  ];
  for (const [more, words] of refused) {
    const made = await project('refused', { workload: SCRIPT, ...more });
    for (const args of [
      ['package', made, '-o', path.join(folder, 'refused.tgz')],
      ['publish', made, '--as', 'anna'],
    ]) {
      const { code, said } = await run(...args);
      assert.deepEqual([code, words.test(said)], [1, true], said);
      assert.doesNotMatch(said, /invalid_request/, 'the platform was not asked');
    }
  }
  const role = await project('refused', { workload: SCRIPT, systemRoles: ['schedules.manager-ui'] });
  const { code, said } = await run('publish', role, '--as', 'anna');
  assert.deepEqual([code, /`systemRoles` is only for apps that come with/.test(said)], [1, true], said);
});

test('publishing a backend that no machine can run says so', async () => {
  const image = { runtime: 'oci', image: `registry.example/app@sha256:${'0'.repeat(64)}` };
  const { code, said } = await run('publish', await project('imaged', { workload: image }), '--as', 'anna');
  assert.equal(code, 0, said);
  assert.match(
    said,
    /imaged 1\.0\.0 is in the Store[\s\S]*cannot be installed on this platform:\s+- Its backend is a container image, and no machine/,
  );
});

test('publishing works while the platform does not run', async () => {
  assert.equal(await platform?.stop(), 0);
  const { code, said } = await run('publish', path.join(folder, 'notes'), '--as', 'anna');
  assert.equal(code, 0, said);
  platform = await startPlatform(place);
  assert.deepEqual((await versionsOf('jotter')).sort(), ['1.0.0', '1.1.0']);
});

async function setManifest(change: object): Promise<void> {
  const file = path.join(folder, 'notes/manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...manifest, ...change }, null, 2));
}

function development(t: TestContext): Command {
  const dev = command(['dev', path.join(folder, 'notes'), '--as', 'anna', '--grant-all']);
  t.after(() => dev.child.kill('SIGKILL'));
  return dev;
}

test('dev runs the folder in the real sandbox, again with every change, and shows its log', async (t) => {
  await setManifest({ id: 'tried-out', version: '1.0.0' });
  const dev = development(t);
  const [, first] = /\(dev\) (\S+)/.exec(await dev.hears(/Notes \(dev\) 1\.0\.0-dev\.\d+ runs for anna/)) ?? [];
  await dev.hears(/Notes listens on port 8080\./);
  assert.deepEqual(await versionsOf('tried-out-dev'), [first]);
  const { items: inStore } = await bert.browser.take<{ items: { appId: string }[] }>('/v1/catalog');
  assert.ok(!inStore.some(({ appId }) => appId === 'tried-out-dev'), 'it is for its author alone');

  await appendFile(path.join(folder, 'notes/workload/server.mjs'), "\nconsole.log('changed as', process.getuid());\n");
  const [again = ''] = await dev.hearsAll(/Notes \(dev\) 1\.0\.0-dev\.\d+ runs again for anna/, /changed as \d+/);
  const [, second] = /\(dev\) (\S+)/.exec(again) ?? [];
  assert.notEqual(second, first);
  // What was only tried out is gone again.
  assert.deepEqual(await versionsOf('tried-out-dev'), [second]);

  await t.test('a mistake is told, and the next change is the next chance', async () => {
    await setManifest({ permissions: [{ id: 'no.such.permission', resources: ['*'] }] });
    await dev.hears(/manifest\.json: `permissions\[0\]\.id` is not a permission/);
    assert.deepEqual(await versionsOf('tried-out-dev'), [second]);
    await setManifest({
      permissions: [{ id: 'notifications.publish', resources: ['notes', 'more'] }],
      workload: { runtime: 'node', entry: 'server.mjs', volume: true, resources: { memoryMiB: 192 } },
    });
    await dev.hears(/runs again for anna/);
    const held = await anna.browser.take<PermissionsView>('/v1/apps/tried-out-dev/permissions');
    assert.deepEqual(held.permissions, [{ id: 'notifications.publish', resources: ['notes', 'more'] }]);
    assert.equal(held.resources?.granted?.memoryMiB, 192, 'the developer asks and answers');
  });

  await t.test('Ctrl-C ends it, and the app stays', async () => {
    dev.child.kill('SIGINT');
    assert.equal((await dev.ends()).code, 0);
    const { items } = await anna.browser.take<{ items: { appId: string }[] }>('/v1/apps');
    assert.ok(items.some(({ appId }) => appId === 'tried-out-dev'));
  });
});

test('publish and dev run an executable as it is, and say what is wrong with one that cannot run', async (t) => {
  const busybox = staticBusybox();
  if (busybox === undefined || process.arch !== 'x64') return t.skip('needs busybox-static on x86-64');
  const compiled = path.join(folder, 'compiled');
  const program = path.join(compiled, 'workload/bin/server');
  await mkdir(path.dirname(program), { recursive: true });
  const manifest = { schemaVersion: 9, id: 'compiled', version: '1.0.0', name: 'Compiled', summary: 'An executable.' };
  const workload = { runtime: 'binary', entry: 'bin/server', mode: 'always' };
  await writeFile(path.join(compiled, 'manifest.json'), JSON.stringify({ ...manifest, workload }));
  // Of a script they would be bundled into it.
  await writeFile(path.join(compiled, 'package.json'), JSON.stringify({ dependencies: { 'not-installed': '1.0.0' } }));
  await writeFile(path.join(compiled, 'workload/busybox'), busybox);
  await writeFile(
    path.join(compiled, 'workload/main.sh'),
    'echo "compiled as $(/app/busybox id -u)"; exec /app/busybox httpd -f -p $PORT\n',
  );
  await writeFile(program, '#!/bin/sh\necho no\n', { mode: 0o755 });
  const refused = await run('publish', compiled, '--as', 'anna');
  assert.deepEqual(
    [refused.code, /names workload\/bin\/server, which is a script/.test(refused.said)],
    [1, true],
    refused.said,
  );

  await writeFile(program, becoming('/app/busybox', ['sh', 'main.sh']), { mode: 0o644 });
  const published = await run('publish', compiled, '--as', 'anna');
  assert.equal(published.code, 0, published.said);
  const dev = command(['dev', compiled, '--as', 'anna']);
  t.after(() => dev.child.kill('SIGKILL'));
  await dev.hears(/compiled as \d+/);
  await writeFile(
    path.join(compiled, 'workload/main.sh'),
    'echo "changed as $(/app/busybox id -u)"; exec /app/busybox httpd -f -p $PORT\n',
  );
  await dev.hears(/changed as \d+/);
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);
});

test('dev of an app without a backend waits for no log, and says once what cannot work here', async (t) => {
  const page = path.join(folder, 'page');
  await cp(path.join(folder, 'notes/frontend'), path.join(page, 'frontend'), { recursive: true });
  const manifest = { schemaVersion: 9, id: 'only-page', version: '1.0.0', name: 'Page', summary: 'A page.' };
  const permissions = [{ id: 'intelligence.use', resources: ['*'] }];
  await writeFile(path.join(page, 'manifest.json'), JSON.stringify({ ...manifest, frontend: {}, permissions }));
  const dev = command(['dev', page, '--as', 'anna']);
  t.after(() => dev.child.kill('SIGKILL'));
  await dev.hears(/Page \(dev\) .* runs for anna/);
  await dev.hears(/does not work as a whole on this platform:\s+- It uses AI models/);
  await appendFile(path.join(page, 'frontend/index.html'), '<!-- changed -->');
  const said = await dev.hears(/[\s\S]*Page \(dev\) \S+ runs again for anna/);
  dev.child.kill('SIGINT');
  await dev.ends();
  assert.doesNotMatch(said, /does not answer|It uses AI models/);
});

test('a second round of dev goes on where the first one ended', async (t) => {
  const [before] = await versionsOf('tried-out-dev');
  const dev = development(t);
  await dev.hears(/runs for anna/);
  const after = await versionsOf('tried-out-dev');
  assert.equal(after.length, 1);
  assert.notEqual(after[0], before);
});
