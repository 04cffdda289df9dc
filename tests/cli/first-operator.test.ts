// How a platform without a setting for it gets an operator: with one command, by whoever has the data folder; beside the running
// platform, over restarts, and against a setting that says otherwise.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { Command } from '../support/cli-command.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let ada: TestAccount;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

/** Runs `platform account operator …` on its own. */
async function operator(exit: number, words: RegExp, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const environment = { ...place.environment, ...more };
  const { code, said } = await new Command(['account', 'operator', ...args], { environment }).ends();
  assert.equal(code, exit, said);
  assert.match(said, words);
}

async function restart(more: NodeJS.ProcessEnv = {}): Promise<void> {
  await platform.stop();
  platform = await startPlatform({ ...place, environment: { ...place.environment, ...more } });
}

const operates = async () => (await ada.fetch('/v1/operator/invitations')).status === 200;

test('a start says that nobody is the operator, and how somebody becomes it', async () => {
  assert.match(platform.output(), /Operator +nobody yet: register, then \.\/platform account operator <account name>/);
  await operator(0, /^Nobody is the operator yet\. Register, then: /, []);
  await operator(1, /There is no account named ada/, ['ada']);
});

test('the command makes an account the operator beside the running platform, which writes it down', async () => {
  ada = await registerAccount(platform, 'ada');
  await registerAccount(platform, 'ben');
  assert.equal(await operates(), false);
  await operator(1, /no account named adda \(did you mean "ada"\?\)/, ['adda']);
  await operator(0, /^✓ ada, registered 2\S+Z, is the operator: .*\nIf that is not your account, .* --withdraw/, [
    'Ada',
  ]);
  assert.equal(await operates(), true);
  const { items } = await ada.browser.take<{ items: { appId: string }[] }>('/v1/apps');
  assert.ok(items.some(({ appId }) => appId === 'fleet'));
  await until('the log to say so', () => /at the console the account was made the operator/.test(platform.output()));
  const marker = () => JSON.parse(readFileSync(path.join(place.dataDirectory, 'platform.json'), 'utf8'));
  await until('the data folder to know its account', () => marker().masterAccount !== null);
  await operator(0, /^ada$/m, []);
});

test('nobody becomes it beside the one that is, and the same one does again without effect', async () => {
  await operator(1, /ada is the operator\. To name another one, .* --withdraw/, ['ben']);
  await operator(0, /^✓ ada, registered/, ['ada']);
  await operator(2, /Write it as/, ['ada', 'ben']);
  await operator(2, /Write it as/, ['--force']);
});

test('it outlives a restart, and a setting that names the same account', async () => {
  await restart();
  assert.match(platform.output(), /Operator +ada\n/);
  assert.equal(await operates(), true);
  await restart({ PLATFORM_MASTER_ACCOUNT: 'ada' });
  assert.equal(await operates(), true);
});

test('a setting that names another account stops the start, until one of the two is taken back', async () => {
  await platform.stop();
  const environment = { ...place.environment, PLATFORM_MASTER_ACCOUNT: 'ben' };
  const start = await new Command(['start'], { environment }).ends();
  assert.notEqual(start.code, 0);
  assert.match(start.said, /PLATFORM_MASTER_ACCOUNT is ben, but ada was made the operator .* --withdraw/);
  await operator(0, /^✓ ada is no longer the operator\./, ['--withdraw'], { PLATFORM_MASTER_ACCOUNT: 'ben' });
  platform = await startPlatform({ ...place, environment });
  assert.match(platform.output(), /Operator +ben\n/);
  assert.equal(await operates(), false);
});

test('beside a platform that was started with the setting nobody is named, whatever this shell has set', async () => {
  await operator(1, /PLATFORM_MASTER_ACCOUNT names ben/, ['ada'], { PLATFORM_MASTER_ACCOUNT: 'ben' });
  await operator(1, /was started with PLATFORM_MASTER_ACCOUNT=ben/, ['ada']);
  assert.equal(await operates(), false);
  await operator(
    0,
    /^Nobody was made the operator with this command\.\nPLATFORM_MASTER_ACCOUNT names ben\./,
    ['--withdraw'],
    {
      PLATFORM_MASTER_ACCOUNT: 'ben',
    },
  );
});
