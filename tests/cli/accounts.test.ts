// An operator who decides who has an account: invitations, plans, suspensions and deletions by the command line, beside the
// running platform, and what a start and doctor say of a master account that is not there.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { registerAccount, signIn, TestBrowser } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KEEPER = `
  const fs = process.getBuiltinModule('node:fs');
  fs.writeFileSync(process.env.PLATFORM_VOLUME_DIR + '/diary', 'private words');
  process.getBuiltinModule('node:http').createServer((request, response) => response.end('ok')).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess;

before(async () => {
  place = await platformPlace({
    PLATFORM_REGISTRATION: 'invite',
    PLATFORM_MASTER_ACCOUNT: 'landlord',
    PLATFORM_PUBLISHERS: 'guest',
  });
  platform = await startPlatform(place);
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

async function run(...args: string[]) {
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', ...args], {
    cwd: ROOT,
    env: place.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    error += chunk.toString('utf8');
  });
  const [code] = await once(child, 'close');
  return { code, out, error };
}

async function ok(...args: string[]): Promise<string> {
  const { code, out, error } = await run(...args);
  assert.deepEqual([code, error], [0, ''], out);
  return out;
}

async function refused(pattern: RegExp, exit: number, ...args: string[]): Promise<void> {
  const { code, out, error } = await run(...args);
  assert.deepEqual([code, out], [exit, ''], error);
  assert.match(error, pattern);
}

const tokenIn = (text: string) => /#invite=(\S+)/.exec(text)?.[1] ?? assert.fail(text);

test('a start and doctor say that the master account is not there, and how to invite it', async () => {
  const words =
    /PLATFORM_MASTER_ACCOUNT is landlord, but there is no account of that name\. Invite it with `\.\/platform account invite --for landlord`/;
  assert.match(platform.output(), words);
  assert.match((await run('doctor')).out, words);
  for (const text of [platform.output(), (await run('doctor')).out])
    assert.match(text, /PLATFORM_PUBLISHERS names guest, but there is no account of that name\./);
});

test('an invitation registers one person, the master account for a beginning', async () => {
  const said = await ok('account', 'invite', '--for', 'Landlord');
  assert.match(said, /landlord can register once with this link, before .*\n\n {2}http:.*\/#invite=piv_/);
  await registerAccount(platform, 'landlord', {}, tokenIn(said));
  await assert.rejects(registerAccount(platform, 'guest', {}, tokenIn(said)), /not_authorized/);
  assert.doesNotMatch((await run('doctor')).out, /PLATFORM_MASTER_ACCOUNT/);
});

test('invitations are listed without their links, and revoked', async () => {
  const token = tokenIn(await ok('account', 'invite'));
  const listed = await ok('account', 'invitations');
  assert.match(listed, /^ID +FOR +MADE +EXPIRES\ninv-\S+ +any name +\S+ +\S+\n$/);
  assert.ok(!listed.includes(token));
  const id = /inv-\S+/.exec(listed)?.[0] ?? '';
  assert.equal(await ok('account', 'uninvite', id), '✓ The invitation is revoked.\n');
  await assert.rejects(registerAccount(platform, 'guest', {}, token), /not_authorized/);
  assert.equal(await ok('account', 'invitations'), 'No pending invitations. `./platform account invite` makes one.\n');
  await refused(/no such invitation/, 1, 'account', 'uninvite', id);
  await refused(/cannot be the name of an account/, 2, 'account', 'invite', '--for', 'No Name');
});

test('an account is listed with what it takes, gets a plan, and is deleted with its volume', async () => {
  const guest = await registerAccount(platform, 'guest', {}, tokenIn(await ok('account', 'invite')));
  const workload = { runtime: 'node', entry: 'main.mjs', volume: true, mode: 'always', resources: { diskMiB: 64 } };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': KEEPER };
  await publishTestApp(guest, 'logbook', { name: 'Diary', workload }, files);
  await guest.browser.take('/v1/apps', { body: { appId: 'logbook' } });
  const backends = (JSON.parse(await ok('ps', '--json')) as { items: { id: string; appId: string }[] }).items;
  const { id } = backends.find(({ appId }) => appId === 'logbook') ?? assert.fail();
  const volume = path.join(place.dataDirectory, 'volumes', id);
  await until('its backend wrote', () => existsSync(volume), 60_000);

  await ok('account', 'plan', 'guest', 'paid');
  assert.match(
    await ok('account', 'list'),
    /^NAME +STATE +PLAN +APPS +DISK +SESSIONS +LAST SEEN +REGISTERED\nguest +active +paid +11 +\d\d MiB +1 +2\S+T\d\d:\d\dZ +2\S+T\d\d:\d\dZ\nlandlord +active +free \(default\) +\d+ +0 bytes +1 /,
  );
  const { items } = JSON.parse(await ok('account', 'list', '--json')) as { items: { name: string; plan: string }[] };
  assert.deepEqual(
    items.map(({ name, plan }) => [name, plan]),
    [
      ['guest', 'paid'],
      ['landlord', 'free'],
    ],
  );
  await refused(/account list \[--json\]/, 2, 'account', 'list', '--jsno');
  await refused(/There is no terminal here to answer on\. Add --yes/, 2, 'account', 'delete', 'guest');
  assert.equal((await guest.fetch('/v1/apps')).status, 200, 'it is still there');
  await refused(/landlord is the master account and cannot be deleted/, 1, 'account', 'delete', 'landlord', '--yes');
  await refused(/There is no account named nobody-here\./, 1, 'account', 'delete', 'nobody-here', '--yes');
  for (const action of ['suspend', 'resume', 'delete'])
    await refused(/There is no account named gest \(did you mean "guest"\?\)\./, 1, 'account', action, 'gest');
  await refused(/landlord is the master account and cannot be deleted/, 1, 'account', 'delete', 'landlord');
  await refused(
    /There is no plan gold\. The plans are free, paid and default\./,
    2,
    'account',
    'plan',
    'guest',
    'gold',
  );
  await refused(/There is no action lst \(did you mean "list"\?\)\. Name an action: /, 2, 'account', 'lst');
  await refused(/guest has an account, or had one\. /, 1, 'account', 'invite', '--for', 'guest');
  assert.match(
    await ok('account', 'suspend', 'landlord'),
    /landlord is the master account: nobody can open Fleet until/,
  );
  await ok('account', 'resume', 'landlord');

  assert.match(await ok('account', 'delete', 'guest', '--yes'), /✓ guest is deleted\./);
  assert.equal((await guest.fetch('/v1/apps')).status, 401);
  await assert.rejects(signIn(platform, guest.authenticator));
  await until('its volume is gone', () => !existsSync(volume), 60_000);
  assert.doesNotMatch(await ok('account', 'list'), /guest/);
  await refused(/guest has an account, or had one\. /, 1, 'account', 'invite', '--for', 'guest');
  const again = new TestBrowser(platform);
  const body = { name: 'guest', invitation: tokenIn(await ok('account', 'invite')) };
  assert.equal((await again.fetch('/v1/auth/register/options', { body })).status, 409);
});
