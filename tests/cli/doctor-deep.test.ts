// `./platform doctor --deep` on a platform as a user starts it: of a whole one it names nothing, running or stopped; each kind of
// damage it names, and calls nothing ready beside it; and it changes nothing by looking.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withConnection } from '@platform/core/database';
import { registerAccount } from '../support/client.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import {
  databaseUrlOf,
  type PlatformPlace,
  type PlatformProcess,
  partOf,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STORY_MS = 300_000;
const KEEPER = `
  import { writeFileSync } from 'node:fs';
  writeFileSync(process.env.PLATFORM_VOLUME + '/kept', 'kept');
  setInterval(() => undefined, 1_000);
`;

let place: PlatformPlace;
let platform: PlatformProcess;
before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  const account = await registerAccount(platform, 'ada');
  assert.equal((await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'x' } })).status, 204);
  const workload = { runtime: 'node', entry: 'main.mjs', volume: true, mode: 'always', resources: { diskMiB: 64 } };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': KEEPER };
  await publishTestApp(account, 'logbook', { name: 'Diary', workload }, files);
  await account.browser.take('/v1/apps', { body: { appId: 'logbook' } });
  await until('its volume', () => readdirSync(inFolder('volumes')).length > 0, 60_000);
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

const inFolder = (...names: string[]) => path.join(place.dataDirectory, ...names);

async function doctor(more: NodeJS.ProcessEnv = {}): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', 'doctor', '--deep'], {
    cwd: ROOT,
    env: { ...place.environment, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  const [code] = await once(child, 'close');
  return { code, out };
}

const READY = /\bready\b/i;

/** No more than what this machine is limited in, which every run of the doctor says. */
async function assertWhole(): Promise<string> {
  const { code, out } = await doctor();
  assert.equal(code, 0, out);
  assert.doesNotMatch(out, /✗|^! (?:keys|pages|packages|volumes|descriptors|clock|deep)/m);
  for (const check of ['keys', 'pages', 'packages', 'volumes', 'clock'])
    assert.match(out, new RegExp(`^✓ ${check} `, 'm'));
  assert.equal(READY.test(out.split('\n').at(-2) ?? ''), !out.includes('\n! '), out);
  return out;
}

async function assertNamed(...patterns: RegExp[]): Promise<void> {
  const { code, out } = await doctor();
  for (const pattern of patterns) assert.match(out, pattern);
  assert.equal(code, 1, out);
  assert.doesNotMatch(out, READY);
}

const sql = async (statement: string, values: unknown[] = []) =>
  withConnection({ connectionString: await databaseUrlOf(place) }, (client) => client.query(statement, values));

/** Puts a file back as it was, with its mode. */
function restoring(t: TestContext, file: string): Buffer {
  const [bytes, { mode }] = [readFileSync(file), statSync(file)];
  t.after(() => {
    writeFileSync(file, bytes);
    chmodSync(file, mode & 0o777);
  });
  return bytes;
}

test('a platform that is whole and runs: every check, with counts, and nothing amiss', {
  timeout: STORY_MS,
}, async () => {
  const out = await assertWhole();
  assert.match(out, /✓ keys +the master key is that of the database; opens 1 secret of accounts/);
  assert.match(out, /✓ descriptors +the supervisor \d+ of \d+, .*Core \d+ of \d+/);
  assert.match(out, /✓ volumes +1 (?:in use|volume whole)/);
  assert.doesNotMatch((await doctor()).out, /Checking volumes/, 'progress is for terminals');
});

test('a key file that is open to others, and one that holds no key', { timeout: STORY_MS }, async (t) => {
  restoring(t, inFolder('master.key'));
  restoring(t, inFolder('node', 'node.key'));
  chmodSync(inFolder('master.key'), 0o644);
  truncateSync(inFolder('node', 'node.key'), 20);
  await assertNamed(
    /✗ keys +the master key, \S+, is open to other users \(mode 0644\)\n +→ .*chmod 0600/,
    /✗ keys +the key of this machine as a node is damaged: .*node\.key/,
  );
});

test('a key for certificates that is open to others, and one that was cut', { timeout: STORY_MS }, async (t) => {
  const folder = inFolder('ingress', 'acme', 'authority');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  t.after(() => rmSync(inFolder('ingress', 'acme'), { recursive: true }));
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(path.join(folder, 'account.key'), key, { mode: 0o640 });
  writeFileSync(path.join(folder, 'cloud.example.pem'), key.slice(0, 60), { mode: 0o600 });
  await assertNamed(
    /✗ keys +a key for the certificates of this Ingress, \S+account\.key, is open to other users \(mode 0640\)/,
    /✗ keys +a key for the certificates of this Ingress is damaged: .*\n +→ Restore \S+cloud\.example\.pem/,
  );
});

test('a missing key file, which no look makes anew', { timeout: STORY_MS }, async (t) => {
  const [file, aside] = [inFolder('node', 'node.key'), inFolder('node.key.aside')];
  renameSync(file, aside);
  t.after(() => renameSync(aside, file));
  await assertNamed(
    /✗ keys +the key of this machine as a node is missing: \S+node\.key\n +→ Restore it from a backup\./,
  );
  assert.equal(existsSync(file), false);
});

test('a master key and a node key that are others, whole as they are', { timeout: STORY_MS }, async (t) => {
  restoring(t, inFolder('node', 'node.key'));
  writeFileSync(inFolder('node', 'node.key'), readFileSync(inFolder('ingress', 'ingress.key')));
  await assertNamed(/✗ keys +core knows no node with the key of this machine/);
  restoring(t, inFolder('master.key'));
  writeFileSync(inFolder('master.key'), `${Buffer.alloc(32, 7).toString('base64url')}\n`);
  await assertNamed(/not the one that the secrets in this database were sealed with/);
});

test('a secret that was altered in the database', { timeout: STORY_MS }, async (t) => {
  const flip = 'UPDATE account_secrets SET sealed = set_byte(sealed, 14, get_byte(sealed, 14) # 1)';
  await sql(flip);
  t.after(() => sql(flip));
  await assertNamed(/✗ keys +the master key does not open 1 of 1 secret: altered in the database/);
});

test('a data folder of another platform', { timeout: STORY_MS }, async (t) => {
  const marker = restoring(t, inFolder('platform.json')).toString('utf8');
  writeFileSync(inFolder('platform.json'), marker.replace(/[0-9a-f-]{36}/, '00000000-0000-4000-8000-000000000000'));
  await assertNamed(/✗ keys +the data folder \S+ and the database are not those of one platform/);
});

test('packages and frontends that were altered, or are missing', { timeout: STORY_MS }, async (t) => {
  const { rows } = await sql("SELECT package_hash AS hash FROM app_versions WHERE app_id = 'logbook'");
  const hash = String(rows[0].hash);
  const [file, page] = [inFolder('packages', `${hash}.tgz`), inFolder('packages', hash, 'frontend', 'index.html')];
  const bytes = restoring(t, file);
  restoring(t, page);
  writeFileSync(page, 'evil');
  writeFileSync(
    file,
    Buffer.concat([bytes.subarray(0, 100), Buffer.from([(bytes[100] ?? 0) ^ 1]), bytes.subarray(101)]),
  );
  await assertNamed(
    /✗ packages +the package of logbook 1\.0\.0 is altered: its hash is another one: \S+\.tgz\n +→ Restore it/,
    /✗ packages +the unpacked frontend of logbook 1\.0\.0 is altered: .*\n +→ Restart the platform/,
  );
  rmSync(file);
  await assertNamed(/✗ packages +the package of logbook 1\.0\.0 is missing: \S+\.tgz/);
});

test('a page of the database that the disk altered', { timeout: STORY_MS }, async (t) => {
  await sql('CHECKPOINT');
  const { rows } = await sql("SELECT pg_relation_filepath('schema_migrations') AS file");
  const file = inFolder('postgres', 'data', String(rows[0].file));
  restoring(t, file);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, 'what no server wrote', 8_000);
  closeSync(descriptor);
  await assertNamed(/✗ pages +table schema_migrations: page 0 on the disk: wrong checksum\n +→ .*restore the database/);
});

test('a volume that is missing, and one whose file system is damaged', { timeout: STORY_MS }, async (t) => {
  const known = inFolder('volumes.known', 'inst-gone');
  writeFileSync(known, 'image', { mode: 0o600 });
  t.after(() => rmSync(known));
  await assertNamed(/✗ volumes +the volume inst-gone in \S+ is missing\n +→ Mount its disk, or restore it/);
  if (lacksProgram('mkfs.ext4') || lacksProgram('e2fsck')) return;
  const image = inFolder('volumes', 'inst-bad.ext4');
  writeFileSync(image, '');
  t.after(() => rmSync(image));
  truncateSync(image, 16 * 1_024 * 1_024);
  execFileSync('mkfs.ext4', ['-q', '-F', image], { env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin' } });
  const descriptor = openSync(image, 'r+');
  writeSync(descriptor, Buffer.alloc(4 * 1_024 * 1_024, 0xa5), 0, undefined, 64 * 1_024);
  closeSync(descriptor);
  await assertNamed(/✗ volumes +the volume inst-bad is damaged: \S+/);
});

test('a part that is at its limit of open files', { timeout: STORY_MS, skip: lacksProgram('prlimit') }, async (t) => {
  const { pid } = await partOf(place, 'Ingress');
  const limit = (files: number) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
  const former = Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]);
  t.after(() => limit(former));
  limit(readdirSync(`/proc/${pid}/fd`).length + 1);
  await assertNamed(/✗ descriptors +Ingress has \d+ files and connections open, and may have \d+\n +→ Raise/);
});

test('a time on record that lies ahead', { timeout: STORY_MS }, async (t) => {
  await sql("INSERT INTO clock_readings (boot, at, uptime_milliseconds) VALUES ('other', now() + interval '1 day', 1)");
  t.after(() => sql("DELETE FROM clock_readings WHERE boot = 'other'"));
  await assertNamed(/✗ clock +\S+ is before \S+, the newest time on record\n +→ Set the clock/);
});

test('what the doctor cannot look at is no good sign either', { timeout: STORY_MS }, async () => {
  const { code, out } = await doctor({ PLATFORM_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
  assert.equal(code, 1);
  assert.match(out, /✗ deep +not done: opening what is sealed\n +→ \S/);
  assert.match(out, /✗ deep +not done: reading packages, for the same reason\n/);
  assert.doesNotMatch(out, READY);
});

test('the same platform, whole again: running, and stopped, where looking leaves it as it was', {
  timeout: STORY_MS,
}, async () => {
  await assertWhole();
  await platform.stop();
  const files = () => readdirSync(place.dataDirectory).sort();
  const before = files();
  assert.match(await assertWhole(), /✓ volumes +1 volume whole/);
  assert.deepEqual(files(), before);
});

test('a key file that was open is said, also where the start of PostgreSQL would have closed it', {
  timeout: STORY_MS,
}, async () => {
  chmodSync(inFolder('master.key'), 0o640);
  await assertNamed(/✗ keys +the master key, \S+, is open to other users \(mode 0640\)/);
});
