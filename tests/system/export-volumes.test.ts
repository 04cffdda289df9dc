// An account takes along what its apps keep in their volumes, from a node with real sandboxes: an app that writes all the
// time is stopped while it is copied and goes on afterwards, and what a removed app left is there too.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type StorageUse, type WorkloadDetail, workloadDetail } from '@platform/contract';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { confirm, registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

/** Two files that always agree when nothing runs: each step is written to both. And whatever an app may make. */
const writer = (largeBytes: number) => `
import * as fs from 'node:fs';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
const at = (name) => process.env.PLATFORM_VOLUME_DIR + '/' + name;
if (!fs.existsSync(at('links'))) {
  fs.mkdirSync(at('links'));
  fs.symlinkSync('/etc/passwd', at('links/out'));
  fs.symlinkSync('../one', at('links/in'));
  fs.writeFileSync(at('large'), randomBytes(${largeBytes}));
  fs.linkSync(at('large'), at('links/same'));
  fs.writeFileSync(Buffer.concat([Buffer.from(at('odd-')), Buffer.from([0xff, 10])]), 'odd');
}
let step = fs.existsSync(at('one')) ? fs.readFileSync(at('one'), 'utf8').length : 0;
let ended = false;
process.on('SIGTERM', () => { ended = true; });
const write = () => {
  fs.appendFileSync(at('one'), 'x');
  fs.appendFileSync(at('two'), 'x');
  step += 1;
  if (ended) process.exit(0);
  setImmediate(write);
};
write();
createServer((_, res) => res.end(String(step))).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'export-'));
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'writer');
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function writes(appId: string, largeBytes = 3_000_000): Promise<AskBackend> {
  const workload = { runtime: 'node', entry: 'main.mjs', volume: true, resources: { diskMiB: 64 } };
  const files = { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': writer(largeBytes) };
  await publishTestApp(account, appId, { workload }, files);
  await account.browser.take('/v1/apps', { body: { appId } });
  const ask = await openBackend(place, account, appId);
  await until('it writes', async () => Number((await ask('/')).text) > 100);
  return ask;
}

const status = async (appId: string): Promise<WorkloadDetail> =>
  workloadDetail.parse((await account.fetch(`/v1/apps/${appId}/status`)).json);

async function begin(): Promise<http.IncomingMessage> {
  const body = JSON.stringify({ confirmation: await confirm(account, 'account.export') });
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const headers = {
    host: new URL(platform.origin).host,
    origin: platform.origin,
    cookie: account.cookie,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const path = '/v1/account/export';
  http
    .request({ host: '127.0.0.1', port: platform.port, path, method: 'POST', agent: false, headers }, resolve)
    .on('error', reject)
    .end(body);
  const response = await promise;
  assert.equal(response.statusCode, 200);
  return response;
}

/** As the tar of this machine unpacks it. */
function unpack(archive: Buffer): string {
  const into = mkdtempSync(join(folder, 'unpacked-'));
  writeFileSync(join(into, 'archive.tar.gz'), archive);
  execFileSync('tar', ['-xzf', 'archive.tar.gz'], { cwd: into });
  const [name = ''] = readdirSync(into).filter((one) => one !== 'archive.tar.gz');
  return join(into, name);
}

test('files of an app that writes all the time agree, and it goes on afterwards', async () => {
  const ask = await writes('busy');
  const { volumes } = await account.browser.take<StorageUse>('/v1/account/disk/use');
  const used = volumes.find(({ appId }) => appId === 'busy')?.bytes ?? 0;
  assert.ok(used >= 3_000_000 && used < 64 * 1024 * 1024, `${used}`);

  const response = await begin();
  const volume = join(unpack(await buffer(response)), 'apps/busy/volume');
  const [one, two] = ['one', 'two'].map((name) => readFileSync(join(volume, name), 'utf8'));
  assert.ok((one?.length ?? 0) > 100);
  assert.equal(one, two, 'no step was half done when it was copied');
  assert.equal(readFileSync(join(volume, 'links/same')).length, 3_000_000);
  assert.equal(lstatSync(join(volume, 'large')).nlink, 2);
  assert.ok(lstatSync(join(volume, 'links/in')).isSymbolicLink());
  assert.equal(existsSync(join(volume, 'links/out')), false);
  assert.match(readFileSync(`${volume}-left-out.jsonl`, 'utf8'), /"links\/out".*passwd/);
  assert.equal(readFileSync(join(volume, 'odd-%FF%0A'), 'utf8'), 'odd');
  const steps = one?.length ?? 0;
  await until('it goes on', async () => Number((await ask('/')).text) > steps);
});

test('while it is copied it does not run, and a reader that goes lets it run again', async () => {
  const ask = await writes('waiting', 40_000_000);
  const response = await begin();
  response.pause();
  await until('it rests', async () => (await status('waiting')).reason?.includes('being downloaded'), 30_000);
  const refused = await ask('/');
  assert.equal(refused.status, 503);
  assert.match(refused.text, /being downloaded/);
  response.destroy();
  await until('it runs again', async () => (await ask('/')).status === 200);
});

test('what a removed app left is there too', async () => {
  await writes('removed');
  await account.fetch('/v1/apps/removed', { method: 'DELETE' });
  await account.fetch('/v1/apps/waiting', { method: 'DELETE' });
  const archive = unpack(await buffer(await begin()));
  for (const appId of ['removed', 'waiting', 'busy'])
    assert.ok(readFileSync(join(archive, `apps/${appId}/volume/one`)).length > 100, appId);
  assert.match(readFileSync(join(archive, 'README.txt'), 'utf8'), /apps\/<app>\/volume\//);
});
