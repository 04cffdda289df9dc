// An author on another machine: signs in with a code, publishes, tries out and reads logs there, until the login ends.
import { strict as assert } from 'node:assert';
import { appendFile, chmod, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { AuthorTokenView } from '@platform/contract';
import { allowCommandLine } from '../support/author-token.ts';
import { Command } from '../support/cli-command.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

const ROOT = path.join(import.meta.dirname, '../..');

let place: PlatformPlace;
let platform: PlatformProcess;
let anna: TestAccount;
/** What the author's own machine has. */
let home = '';
let environment: NodeJS.ProcessEnv;
const notes = () => path.join(home, 'notes');
const logins = () => path.join(home, 'config/platform/logins.json');

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  anna = await registerAccount(platform, 'anna');
  home = await mkdtemp(path.join(tmpdir(), 'author-machine-'));
  const { PATH } = process.env;
  environment = {
    ...{ PATH, HOME: home, XDG_CONFIG_HOME: path.join(home, 'config') },
    PLATFORM_DATA_DIR: path.join(home, 'no-platform'),
  };
  await cp(path.join(ROOT, 'examples/notes'), notes(), { recursive: true });
  await setManifest({ id: 'far-notes' });
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await rm(home, { recursive: true, force: true });
});

async function setManifest(change: object): Promise<void> {
  const file = path.join(notes(), 'manifest.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...change }, null, 2));
}

function command(t: TestContext, ...args: string[]): Command {
  const started = new Command(args, { environment });
  t.after(() => started.child.kill('SIGKILL'));
  return started;
}
const run = (t: TestContext, ...args: string[]) => command(t, ...args).ends();

async function decide(code: string, allow: boolean): Promise<void> {
  if (allow) await allowCommandLine(anna, code);
  else await anna.browser.take('/v1/author/requests/decide', { body: { code, allow } });
}

async function login(t: TestContext, allow = true): Promise<{ code: number | null; said: string }> {
  const signingIn = command(t, 'login', platform.origin, '--name', 'my laptop');
  await signingIn.hears(/\/#\/settings\/command-line\n/);
  const [, code = ''] = /code {2}(\S+)/.exec(await signingIn.hears(/code {2}\S+\n/)) ?? [];
  await decide(code, allow);
  return signingIn.ends();
}

test('before a login, commands say how to sign in', async (t) => {
  const answer = await run(t, 'publish', notes(), '--on', platform.origin);
  assert.deepEqual([answer.code, /not signed in.*\.\/platform login http/.test(answer.said)], [1, true], answer.said);
  assert.match((await run(t, 'whoami')).said, /not signed in to any platform/);
});

test('a denied login keeps nothing', async (t) => {
  const answer = await login(t, false);
  assert.deepEqual([answer.code, /was denied/.test(answer.said)], [1, true], answer.said);
  await assert.rejects(stat(logins()));
});

test('an approved login is kept for its owner alone, and shown in the account', async (t) => {
  const answer = await login(t);
  assert.equal(answer.code, 0, answer.said);
  assert.match(answer.said, /Signed in to http:\S+ as anna, until \d{4}-\d\d-\d\d\./);
  assert.equal((await stat(logins())).mode & 0o777, 0o600);
  assert.equal((await stat(path.dirname(logins()))).mode & 0o777, 0o700);
  assert.ok(!answer.said.includes('pat_'), 'the token is not printed');
  const { items } = await anna.browser.take<{ items: AuthorTokenView[] }>('/v1/author/tokens');
  assert.deepEqual(
    items.map(({ machine }) => machine),
    ['my laptop'],
  );
  assert.match((await run(t, 'whoami')).said, /anna, from my laptop, until/);
});

test('the only login is used where this machine has no platform', async (t) => {
  const first = await run(t, 'publish', notes());
  assert.deepEqual([first.code, /is in the Store of http:\S+, by anna/.test(first.said)], [0, true], first.said);
  assert.doesNotMatch(first.said, /No machine/);
  const again = await run(t, 'publish', notes(), '--on', platform.origin);
  assert.deepEqual([again.code, /version_exists/.test(again.said)], [1, true], again.said);
  const named = await run(t, 'publish', notes(), '--as', 'anna');
  assert.deepEqual([named.code, /--as is for the platform on this machine/.test(named.said)], [2, true], named.said);
});

test('what no machine there can run is said after publishing it', async (t) => {
  const folder = path.join(path.dirname(notes()), 'imaged');
  await mkdir(path.join(folder, 'workload'), { recursive: true });
  const workload = { runtime: 'oci', image: `registry.example/app@sha256:${'0'.repeat(64)}` };
  const manifest = { schemaVersion: 9, id: 'imaged', version: '1.0.0', name: 'Imaged', summary: 'A test.', workload };
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  const { code, said } = await run(t, 'publish', folder);
  assert.equal(code, 0, said);
  assert.match(
    said,
    /is in the Store of http:[\s\S]*cannot be installed on this platform:\s+- Its backend is a container image, and no machine/,
  );
});

test('dev runs there with every change and shows the log; permissions are granted by a person alone', async (t) => {
  const refused = await run(t, 'dev', notes(), '--grant-all');
  assert.deepEqual([refused.code, /a login cannot grant permissions/.test(refused.said)], [2, true], refused.said);
  const dev = command(t, 'dev', notes());
  await dev.hears(/Notes \(dev\) 1\.0\.0-dev\.\d+ runs for anna/);
  const missing = await dev.hears(/runs without permission to[\s\S]*\/#\/settings\/apps\/far-notes-dev\./);
  assert.match(missing, /\(notifications\.publish\)[\s\S]*\(search\.index\)/);
  await dev.hears(/Notes listens on port 8080\./);

  const twice = await run(t, 'dev', notes());
  assert.deepEqual(
    [twice.code, /Another \.\/platform dev is running far-notes-dev/.test(twice.said)],
    [1, true],
    twice.said,
  );

  const grants = [{ id: 'search.index', resources: ['self'] }];
  await anna.browser.take('/v1/apps/far-notes-dev/permissions', { method: 'PUT', body: { permissions: grants } });
  await appendFile(path.join(notes(), 'workload/server.mjs'), "\nconsole.log('changed from afar');\n");
  const lacking = /runs again for anna\n[^\n]* runs without permission to\n[^\n]*\(notifications\.publish\)\nAllow/;
  await dev.hearsAll(lacking, /changed from afar/);
  const { permissions } = await anna.browser.take<{ permissions: unknown }>('/v1/apps/far-notes-dev/permissions');
  assert.deepEqual(permissions, grants, 'what was granted stays, and nothing is added');

  const printed = await run(t, 'logs', 'far-notes-dev');
  assert.deepEqual([printed.code, /changed from afar/.test(printed.said)], [0, true], printed.said);
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);
});

test('when the owner signs it out, what runs ends with words, and a further login works', async (t) => {
  const dev = command(t, 'dev', notes());
  await dev.hears(/Notes listens on port 8080\./);
  const { items } = await anna.browser.take<{ items: AuthorTokenView[] }>('/v1/author/tokens');
  await anna.browser.take(`/v1/author/tokens/${items[0]?.id}`, { method: 'DELETE' });
  await dev.hears(/The login to \S+ has ended\. Run: \.\/platform login/);
  const whoami = await run(t, 'whoami');
  assert.deepEqual([whoami.code, /has ended/.test(whoami.said)], [1, true], whoami.said);
  assert.equal((await login(t)).code, 0);
  const out = await run(t, 'logout');
  assert.deepEqual([out.code, /Signed out of/.test(out.said)], [0, true], out.said);
  assert.deepEqual((await anna.browser.take<{ items: unknown[] }>('/v1/author/tokens')).items, []);
  await assert.rejects(stat(logins()));
});

test('no token goes over an unencrypted connection to another machine, or where a platform redirects', async (t) => {
  const plain = await run(t, 'login', 'http://cloud.example.org');
  assert.deepEqual([plain.code, /is not encrypted/.test(plain.said)], [2, true], plain.said);
  const seen: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request.url);
    response.writeHead(307, { location: `http://127.0.0.1:${(server.address() as AddressInfo).port}/elsewhere` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirected = await run(t, 'login', address);
  assert.deepEqual([redirected.code, /redirects to another address/.test(redirected.said)], [1, true], redirected.said);
  assert.deepEqual(seen, ['/v1/author/requests']);
});

test('logins that others can read are not used', async (t) => {
  assert.equal((await login(t)).code, 0);
  await chmod(logins(), 0o644);
  const answer = await run(t, 'whoami');
  assert.deepEqual([answer.code, /others can read it/.test(answer.said)], [1, true], answer.said);
});
