// Promises of unpacked packages: a core that has started serves no file of an app that is not the one that was published. What was
// altered is unpacked again, also before anybody asks, and where the package is damaged too, the app's frontend is stopped.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { rawRequest } from '../../../../../tests/support/raw-http.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { install, launch, publish } from '../../../test-support/apps.ts';
import { frontendFolder, packageFile } from '../package-file.ts';

const SCRIPT = 'export const answer = 42;\n';
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>';

let platform: Constellation;
let account: TestAccount;
let published = 0;
/** Milliseconds that the clock of core is ahead. */
let later = 0;
let app: { readonly appId: string; readonly hash: string; readonly host: string };
let folder: string;
let file: string;

before(async () => {
  platform = await startConstellation({ clock: () => new Date(Date.now() + later) });
  account = await registerAccount(platform, 'publisher');
});
after(() => platform.close());

/** Not served by anybody before the damage, unless a test does so. */
beforeEach(async () => {
  published += 1;
  const appId = `files-${published}`;
  const manifest = { frontend: { entry: 'index.html' }, icon: 'icon.svg', name: appId };
  const { hash } = await publish(account, appId, manifest, {
    'frontend/main.js': SCRIPT,
    'frontend/deep/er/page.html': appId,
    'frontend/icon.svg': ICON,
  });
  await install(account, appId);
  app = { appId, hash, host: new URL((await launch(account, appId)).origin).host };
  folder = frontendFolder(platform.core.context, hash);
  file = packageFile(platform.core.context, hash);
});

const get = (target: string) =>
  rawRequest({ port: platform.port, method: 'GET', path: target, headers: { host: app.host } });

const linesOf = () =>
  platform.log
    .filter(({ fields }) => (fields as { packageHash?: unknown }).packageHash === app.hash)
    .map(({ level }) => level);

async function assertWhole(): Promise<void> {
  const { status, text } = await get('/main.js');
  assert.deepEqual([status, text], [200, SCRIPT]);
  assert.equal((await get('/deep/er/page.html')).text, app.appId);
}

test('what nobody touched is served, and nothing is said of it', async () => {
  await assertWhole();
  assert.deepEqual(linesOf(), []);
});

const DAMAGES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['other bytes of the same length', () => writeFile(path.join(folder, 'main.js'), SCRIPT.replace('42', '43'))],
  ['a byte more', () => appendFile(path.join(folder, 'main.js'), ' ')],
  ['a file that is missing', () => rm(path.join(folder, 'main.js'))],
  ['a file more', () => writeFile(path.join(folder, 'deep', 'evil.html'), 'evil')],
  ['a file under another name', () => rename(path.join(folder, 'main.js'), path.join(folder, 'name.js'))],
  [
    'a link in the place of a file',
    async () => {
      await rename(path.join(folder, 'main.js'), path.join(folder, '..', 'main.js'));
      await symlink('../main.js', path.join(folder, 'main.js'));
    },
  ],
  ['all of it missing', () => rm(path.dirname(folder), { recursive: true })],
];

for (const [what, damage] of DAMAGES)
  test(`${what}: it is unpacked again before it is served`, async () => {
    await damage();
    await assertWhole();
    assert.equal((await get('/deep/evil.html')).status, 404);
    assert.deepEqual(linesOf(), ['warn']);
    assert.equal(existsSync(path.join(folder, '..', 'icon.png')), false, 'what was drawn of it is drawn anew');
  });

test('its icon is not served from altered files either', async () => {
  await writeFile(path.join(folder, 'icon.svg'), ICON.replace('h8v8', 'h7v7'));
  const { status } = await account.fetch(`/v1/catalog/${app.appId}/icon`);
  assert.equal(status, 200);
  assert.equal(await readFile(path.join(folder, 'icon.svg'), 'utf8'), ICON);
});

test('altered files beside a damaged package are not served, with the reason, until the package is restored', async () => {
  const whole = await readFile(file);
  await appendFile(path.join(folder, 'main.js'), ' ');
  await writeFile(file, whole.subarray(0, -1));
  const { status, text } = await get('/main.js');
  assert.equal(status, 503);
  assert.match(text, /damaged on the server/);
  const [line] = platform.log.filter(({ fields }) => (fields as { packageHash?: unknown }).packageHash === app.hash);
  assert.equal(line?.level, 'error');
  assert.match(JSON.stringify(line), new RegExp(`${app.appId} 1\\.0\\.0.*cut short.*${app.hash}\\.tgz`));
  assert.equal((await get('/')).status, 503);
  assert.deepEqual(linesOf(), ['error'], 'one line, however many ask');
  await writeFile(file, whole);
  later += 61_000;
  await assertWhole();
});

test('a clock that was ahead, and is set back, keeps no frontend stopped', async () => {
  const whole = await readFile(file);
  await appendFile(path.join(folder, 'main.js'), ' ');
  await writeFile(file, whole.subarray(0, -1));
  const YEAR = 365 * 86_400_000;
  later += YEAR;
  assert.equal((await get('/main.js')).status, 503);
  await writeFile(file, whole);
  later -= YEAR;
  await assertWhole();
});

test('beside a damaged package the Store still offers the version that replaces it', async () => {
  await appendFile(path.join(folder, 'main.js'), ' ');
  await rm(file);
  await publish(
    account,
    app.appId,
    { version: '1.0.1', icon: 'icon.svg', name: app.appId },
    { 'frontend/main.js': SCRIPT, 'frontend/icon.svg': ICON },
  );
  const { status, json } = await account.fetch(`/v1/catalog/${app.appId}`);
  assert.equal(status, 200);
  assert.equal((json as { installed: { sameIcon: boolean } }).installed.sameIcon, false);
});

test('a package that holds other bytes is none to unpack from', async () => {
  const other = await publish(account, `${app.appId}-other`, {}, { 'frontend/main.js': 'evil' });
  await writeFile(file, await readFile(packageFile(platform.core.context, other.hash)));
  await appendFile(path.join(folder, 'main.js'), ' ');
  assert.equal((await get('/main.js')).status, 503);
});

test('whole files are served without their package, where it is known what they must be', async () => {
  await rm(file);
  await assertWhole();
  assert.deepEqual(linesOf(), []);
});

test('of a package from before, its own hash says what its files must be', async () => {
  const { pool } = platform.core.context;
  const recorded = async () => {
    const { rows } = await pool.query('SELECT frontend_digest FROM package_blobs WHERE hash = $1', [app.hash]);
    return rows[0].frontend_digest as string | null;
  };
  const digest = await recorded();
  assert.match(digest ?? '', /^[0-9a-f]{64}$/);
  await pool.query('UPDATE package_blobs SET frontend_digest = NULL WHERE hash = $1', [app.hash]);
  await assertWhole();
  assert.deepEqual([await recorded(), linesOf()], [digest, []]);
});

test('a core that starts repairs what is installed before anybody opens it', async () => {
  await assertWhole();
  await writeFile(path.join(folder, 'main.js'), 'evil');
  const replica: TestCore = await platform.replica();
  await until('the repair', () => linesOf().length > 0);
  assert.deepEqual(linesOf(), ['warn']);
  assert.equal(await readFile(path.join(folder, 'main.js'), 'utf8'), SCRIPT);
  await replica.stop();
});

test('a core that starts restores the damaged package of an app that comes with the platform', async () => {
  const { context } = platform.core;
  const { rows } = await context.pool.query(
    'SELECT package_hash AS hash FROM app_versions NATURAL JOIN apps WHERE system ORDER BY app_id LIMIT 1',
  );
  const shipped = packageFile(context, String(rows[0].hash));
  const whole = await readFile(shipped);
  await writeFile(shipped, whole.subarray(0, 50));
  const replica = await platform.replica();
  assert.deepEqual(await readFile(shipped), whole);
  await replica.stop();
});
