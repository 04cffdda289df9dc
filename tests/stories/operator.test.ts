// The first evening of an operator, at a shell in another folder and in browsers: looks before the first start, starts,
// decides who may register, invites a friend, ends and returns the friend's access at the shell and in Fleet, lets them in again
// after a lost passkey, and restores a backup. As a service behind a proxy: server.test.ts.
import { strict as assert } from 'node:assert';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, launchBrowser, newPerson, type Person, pressInPrompt, tileOf } from '../browser/browser.ts';
import { blocksOf } from '../support/documented.ts';
import { emptyPlace, type PlatformPlace } from '../support/platform-process.ts';
import { STORY_MS, until } from '../support/wait.ts';

const PLATFORM = fileURLToPath(new URL('../../platform', import.meta.url));
/** The first start sets up PostgreSQL; on a busy machine all else takes its time too. */
const PATIENCE = 300_000;

let place: PlatformPlace;
let browser: Browser;
let environment: NodeJS.ProcessEnv;
let running: Running | undefined;

before(async () => {
  // Free ports and a folder of its own; an operator has the defaults.
  place = await emptyPlace();
  environment = place.environment;
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await running?.interrupt();
  await place?.remove();
});

interface Running {
  output(): string;
  /** Ctrl-C. Resolves when the platform has stopped. */
  interrupt(): Promise<void>;
}

/** `./platform start` in a terminal that stays open. Resolves when it has printed the address. */
async function start(): Promise<Running> {
  const child = spawn(PLATFORM, ['start'], { cwd: tmpdir(), env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => {
      output += piece.toString('utf8');
    });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await until('the address', () => hasEnded() || output.includes(place.origin), PATIENCE);
  assert.ok(!hasEnded(), output);
  return {
    output: () => output,
    async interrupt() {
      if (hasEnded()) return;
      child.kill('SIGINT');
      await until('the platform to stop', hasEnded, PATIENCE);
    },
  };
}

async function restart(more: NodeJS.ProcessEnv): Promise<void> {
  await running?.interrupt();
  environment = { ...environment, ...more };
  running = await start();
}

/** One command. @returns what it wrote, also where it fails, with its exit code */
async function platform(...args: string[]): Promise<{ readonly code: number; readonly out: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(PLATFORM, args, { cwd: tmpdir(), env: environment });
    return { code: 0, out: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout + stderr };
  }
}

async function succeeds(...args: string[]): Promise<string> {
  const { code, out } = await platform(...args);
  assert.equal(code, 0, out);
  return out;
}

const linkIn = (out: string) => /http\S+#\S+/.exec(out)?.[0] ?? assert.fail(out);

function visitor(): Promise<Person> {
  return newPerson(browser, DESKTOP);
}

async function creates(page: Page, account: string): Promise<void> {
  await page.getByLabel('Account name').fill(account);
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.getByRole('button', { name: `Account ${account}` }).waitFor();
}

test('the first evening of an operator', { timeout: STORY_MS }, async (t) => {
  const step = async (promise: string, work: () => Promise<void>) => {
    let done = false;
    await t.test(promise, async () => {
      await work();
      done = true;
    });
    assert.ok(done, `the story ended where the operator ${promise}`);
  };
  let olga: Person;
  let ben: Person;

  await step('asks the doctor before the first start, who changes nothing', async () => {
    const { out } = await platform('doctor');
    assert.match(out, /not started here yet/);
    assert.match(out, new RegExp(`✓ port +${place.port} on 127\\.0\\.0\\.1 is free`));
    assert.ok(!existsSync(path.join(place.dataDirectory, 'postgres')));
    assert.match((await platform('account', 'list')).out, /^platform: .*npm start|start/);
  });

  await step('starts it, and the address is the last thing to read', async () => {
    running = await start();
    const lines = running.output().trim().split('\n').slice(-4).join('\n');
    assert.ok(lines.includes(place.origin), running.output());
    assert.doesNotMatch(running.output(), /\(default\)/, 'defaults are shown with --verbose alone');
  });

  await step('registers, and becomes the master account of a platform for invited people', async () => {
    olga = await visitor();
    await olga.page.goto(place.origin);
    await creates(olga.page, 'olga');
    await restart({ PLATFORM_MASTER_ACCOUNT: 'olga', PLATFORM_REGISTRATION: 'invite' });
    assert.match(running?.output() ?? '', /PLATFORM_REGISTRATION=invite/);
    await olga.page.reload();
    await olga.page
      .frameLocator('iframe[title="Launcher"]')
      .getByRole('button', { name: 'Fleet', exact: true })
      .waitFor();
  });

  await step('invites a friend, whose link works once', async () => {
    ben = await visitor();
    await ben.page.goto(place.origin);
    await ben.page.getByRole('heading', { name: 'Invitation only' }).waitFor();
    const link = linkIn(await succeeds('account', 'invite', '--for', 'ben'));
    await ben.page.goto(link);
    await creates(ben.page, 'ben');
    const stranger = await visitor();
    await stranger.page.goto(link);
    await stranger.page.getByLabel('Account name').fill('ben-too');
    await stranger.page.getByRole('button', { name: /^Create account/ }).click();
    await stranger.page.getByText(/This invitation does not work/).waitFor();
    await stranger.context.close();
    const listed = await succeeds('account', 'list');
    assert.match(listed, /^ben .* active/m);
    assert.match(listed, /^olga .* active/m);
  });

  await step('suspends the friend, who is signed out, and resumes', async () => {
    await succeeds('account', 'suspend', 'ben');
    await ben.page.getByRole('button', { name: /^Sign in/ }).waitFor();
    await ben.page.getByRole('button', { name: /^Sign in/ }).click();
    await ben.page.getByText('This passkey was not accepted.').waitFor();
    await succeeds('account', 'resume', 'ben');
    await ben.page.getByRole('button', { name: /^Sign in/ }).click();
    await ben.page.getByRole('button', { name: 'Account ben' }).waitFor();
  });

  await step('does the same in Fleet, where the platform asks first', async () => {
    const fleet = olga.page.frameLocator('iframe[title="Fleet"]');
    await tileOf(olga.page, 'Fleet').click();
    await fleet.getByRole('button', { name: 'Accounts', exact: true }).click();
    await fleet.getByRole('button', { name: 'Manage ben', exact: true }).click();
    const changes = async (action: string, outcome: string) => {
      await fleet.getByRole('button', { name: `${action} …`, exact: true }).click();
      const asked = olga.page.getByRole('dialog', { name: `${action} ben?`, exact: true });
      const done = fleet.getByRole('status').getByText(outcome, { exact: true });
      await pressInPrompt(asked.getByRole('button', { name: `${action} ben`, exact: true }), done);
    };
    await changes('Suspend', 'ben is suspended.');
    await ben.page.getByRole('button', { name: /^Sign in/ }).waitFor();
    await changes('Resume', 'ben can sign in again.');
    await ben.page.getByRole('button', { name: /^Sign in/ }).click();
    await ben.page.getByRole('button', { name: 'Account ben' }).waitFor();
  });

  await step('lets the friend in again, who lost every device', async () => {
    await ben.context.close();
    ben = await visitor();
    await ben.page.goto(linkIn(await succeeds('recover', 'ben')));
    await ben.page.getByRole('button', { name: /passkey/i }).click();
    await ben.page.getByRole('button', { name: 'Account ben' }).waitFor();
  });

  await step('makes a backup as documented, loses the folder, and restores it', async () => {
    await running?.interrupt();
    const [backup = ''] = blocksOf('docs/operators.md', 'sh', '## Backup and restore');
    const folder = `${place.dataDirectory}-backup`;
    const sh = (script: string) => promisify(execFile)('sh', ['-euc', script], { cwd: tmpdir() });
    try {
      await sh(`mkdir -p '${folder}'; cd '${folder}'; ${backup.replaceAll('/var/lib/platform', place.dataDirectory)}`);
      await cp(path.join(place.dataDirectory, 'master.key'), path.join(folder, 'master.key'));
      await rm(place.dataDirectory, { recursive: true });
      await sh(`mkdir -m 0711 '${place.dataDirectory}'; tar -xf '${folder}/backup.tar' -C '${place.dataDirectory}'`);
      const { code, out } = await platform('start');
      assert.notEqual(code, 0, 'without its key nothing starts');
      assert.match(out, /master\.key/);
      await cp(path.join(folder, 'master.key'), path.join(place.dataDirectory, 'master.key'));
      running = await start();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await ben.page.reload();
    await ben.page.getByRole('button', { name: 'Account ben' }).waitFor();
  });

  await step('deletes the friend’s account on request', async () => {
    assert.match(await succeeds('account', 'delete', 'ben', '--yes'), /ben is deleted/);
    await ben.page.getByRole('button', { name: /^Sign in/ }).waitFor();
  });

  await step('stops it with Ctrl-C', async () => {
    await running?.interrupt();
    await assert.rejects(fetch(`http://127.0.0.1:${place.port}/`));
  });
});
