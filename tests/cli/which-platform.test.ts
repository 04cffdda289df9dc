// Which platform a command is for: it finds the one that runs on the data folder, with the settings that it was started with, or
// the login, and says which where several are meant.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { Command } from '../support/cli-command.ts';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

/** Nothing listens there, and nothing is asked by the name of another machine. */
const [OLDER, NEWER] = ['http://127.0.0.1:9', 'http://127.0.0.2:9'];

let place: PlatformPlace;
let platform: PlatformProcess;
let desk = '';
/** Another terminal: nothing of the settings is set there. */
let terminal: NodeJS.ProcessEnv;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  await registerAccount(platform, 'anna');
  desk = await mkdtemp(path.join(tmpdir(), 'which-'));
  terminal = {
    PATH: process.env.PATH,
    HOME: desk,
    XDG_CONFIG_HOME: path.join(desk, 'config'),
    PLATFORM_DATA_DIR: place.dataDirectory,
  };
  await mkdir(path.join(desk, 'page/frontend'), { recursive: true });
  await writeFile(path.join(desk, 'page/frontend/index.html'), '<!doctype html><title>Page</title>');
  await release('1.0.0');
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await rm(desk, { recursive: true, force: true });
});

const release = (version: string) =>
  writeFile(
    path.join(desk, 'page/manifest.json'),
    JSON.stringify({ schemaVersion: 9, id: 'which-page', version, name: 'Page', summary: 'A page.', frontend: {} }),
  );

async function signedInTo(...origins: readonly string[]): Promise<void> {
  const file = path.join(desk, 'config/platform/logins.json');
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const logins = origins.map((origin) => ({
    origin,
    token: 'pat_x',
    account: 'anna',
    expiresAt: '2099-01-01T00:00:00Z',
  }));
  await writeFile(file, JSON.stringify({ logins }), { mode: 0o600 });
}

const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  new Command(args, { environment: { ...terminal, ...more }, cwd: desk }).ends();

test('commands find the running platform of the data folder, whatever is set where they are typed', async () => {
  for (const more of [{}, { PLATFORM_OS_ORIGIN: 'http://shell.platform.localhost:9' }]) {
    const ps = await run(['ps'], more);
    assert.deepEqual([ps.code, /Core +running/.test(ps.said)], [0, true], ps.said);
    const invited = await run(['account', 'invite'], more);
    assert.deepEqual([invited.code, invited.said.includes(place.origin)], [0, true], invited.said);
  }
  const published = await run(['publish', 'page']);
  assert.equal(published.code, 0, published.said);
  assert.doesNotMatch(published.said, /--on/, 'there is no other to choose');
});

test('beside logins it is the one that runs here, which the command says, with the others', async () => {
  await signedInTo(OLDER, NEWER);
  await release('1.1.0');
  const { code, said } = await run(['publish', 'page']);
  assert.equal(code, 0, said);
  assert.ok(
    said.includes(
      `This is for the platform on this machine, ${place.origin}. --on <address> chooses another: ${OLDER}, ${NEWER}\n`,
    ),
    said,
  );
  const whoami = await run(['whoami']);
  assert.match(whoami.said, new RegExp(`^\\* ${place.origin} {2}on this machine, running\n${OLDER} `));
});

test('while none runs here it is the newest login, and --on chooses the one here all the same', async () => {
  await platform.stop();
  const there = await run(['publish', 'page']);
  assert.equal(there.code, 1);
  assert.match(
    there.said,
    new RegExp(
      `This is for ${NEWER}\\. --on <address> chooses another: http://\\S+ on this machine, which does not run, ${OLDER}\n`,
    ),
  );
  assert.ok(there.said.includes(`${NEWER} does not answer`), there.said);
  const own = { PLATFORM_OS_ORIGIN: place.origin };
  await release('1.2.0');
  const here = await run(['publish', 'page', '--on', place.origin], own);
  assert.deepEqual([here.code, /1\.2\.0 is in the Store, by anna/.test(here.said)], [0, true], here.said);
  const as = await run(['publish', 'page', '--as', 'anna'], own);
  assert.match(as.said, /version_exists/);
  await signedInTo();
  const unnamed = await run(['dev', 'page']);
  assert.match(unnamed.said, /No platform answers at \S+ on this machine, with the data folder \S+\. Start it/);
});
