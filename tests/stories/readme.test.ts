// A newcomer pastes the blocks of README.md, in their order and as they stand there, into a fresh checkout.
import { strict as assert } from 'node:assert';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, launchBrowser, newPerson, pressAway, tileOf } from '../browser/browser.ts';
import { type CheckoutCopy, copyCheckout } from '../support/checkout-copy.ts';
import { blocksOf } from '../support/documented.ts';
import { emptyPlace, type PlatformPlace } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

/** The first start builds the shell and the default apps, and sets up PostgreSQL. */
const PATIENCE = 300_000;
const LONG = { timeout: 2 * PATIENCE };

let checkout: CheckoutCopy;
let place: PlatformPlace;
let browser: Browser;
let page: Page;
const running: Terminal[] = [];

before(async () => {
  checkout = await copyCheckout();
  // Free ports and a folder of its own; a newcomer has the defaults.
  place = await emptyPlace();
  browser = await launchBrowser();
  ({ page } = await newPerson(browser, DESKTOP));
});
after(async () => {
  await browser?.close();
  for (const terminal of running.toReversed()) await terminal.interrupt();
  await place?.remove();
  await checkout?.remove();
});

/** A command that goes on, in a terminal of its own. */
class Terminal {
  readonly #child: ChildProcess;
  #output = '';

  constructor(line: string) {
    this.#child = spawn('sh', ['-c', line], { cwd: checkout.root, env: place.environment, detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (piece: Buffer) => {
        this.#output += piece.toString('utf8');
      });
    running.push(this);
  }

  /** @throws Error with its output when it ends or takes too long */
  async shows(what: RegExp): Promise<string> {
    const found = () => what.exec(this.#output)?.[0];
    return until(`${what}`, () => (this.#hasEnded() ? 'ended' : found()), PATIENCE).then(
      () => found() ?? assert.fail(`It ended: ${this.#output}`),
      () => assert.fail(`It does not show ${what}: ${this.#output}`),
    );
  }

  /** Ctrl-C. Resolves when nothing of the command is left. */
  async interrupt(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || !isGroup(pid)) return;
    process.kill(-pid, 'SIGINT');
    await until('the command to end', () => !isGroup(pid), PATIENCE);
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

function isGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

/** What the line of a block is that begins so. */
function lineOf(block: string | undefined, command: string): string {
  const line = block?.split('\n').find((one) => one.startsWith(command));
  assert.ok(line, `README.md has no line "${command}"`);
  return line;
}

async function paste(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { cwd: checkout.root, env: place.environment });
  return stdout;
}

test('npm start sets up a fresh checkout and prints the address, where one creates an account', LONG, async () => {
  const [block] = blocksOf('README.md', 'sh', '## Start');
  const terminal = new Terminal(lineOf(block, 'npm start'));
  await page.goto(await terminal.shows(/http:\/\/shell\.platform\.localhost:\d+/));
  await page.getByLabel('Account name').fill('newcomer');
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.locator('iframe[title="Launcher"]').waitFor();
});

test('npm test is there to run the tests', async () => {
  const [block] = blocksOf('README.md', 'sh', '## Start');
  // The whole suite would run this test too.
  const [command = ''] = lineOf(block, 'npm test').split('#');
  assert.match(await paste(`${command.trim()} -- packages/contract/src/schema-words.test.ts`), /^ℹ fail 0$/m);
});

test('the first app runs at home while dev runs, and is in the Store once it is published', LONG, async () => {
  const [block = ''] = blocksOf('README.md', 'sh', '## A first app, in ten lines');
  const [files = ''] = block.split('./platform ', 1);
  await paste(files);

  const dev = new Terminal(lineOf(block, './platform dev'));
  await dev.shows(/Hello \(dev\)/);
  const hello = page.frameLocator('iframe[title="Hello (dev)"]');
  await pressAway(tileOf(page, 'Hello (dev)'), hello.getByRole('heading', { name: 'Hello from my own app' }));
  await paste("sed -i 's/from my own app/again/' hello/frontend/index.html");
  await hello.getByRole('heading', { name: 'Hello again' }).waitFor();
  await dev.interrupt();

  assert.match(await paste(lineOf(block, './platform publish')), /Hello 1\.0\.0 is in the Store, by newcomer/);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('hello');
  await page.getByRole('option', { name: /Hello/ }).first().waitFor();
});

test('Ctrl-C stops everything', async () => {
  const [platform] = running;
  await platform?.interrupt();
  await assert.rejects(fetch(`http://127.0.0.1:${place.port}/`));
  await rm(place.dataDirectory, { recursive: true });
});
