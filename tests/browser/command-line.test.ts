// An author signs a command line in with a code, allows it in Settings, tries an app of `platform init` out and publishes
// it from there, and signs the command line out again. On a desktop and on a phone, by day and by night; pictures go to
// SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { errors } from '@platform/contract';
import type { Browser, Page } from 'playwright-core';
import { Command } from '../support/cli-command.ts';
import { installFromCheckout } from '../support/new-project.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DEVICES, launchBrowser, newPerson, pressAway, pressInPrompt, tileOf } from './browser.ts';
import { look, settingsFit } from './look.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function register(page: Page, name: string): Promise<void> {
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
}

/** The author's own computer, on which no platform runs. */
class Computer {
  readonly #t: TestContext;
  readonly #home: string;

  static async new(t: TestContext): Promise<Computer> {
    const home = await mkdtemp(path.join(tmpdir(), 'author-computer-'));
    t.after(() => rm(home, { recursive: true, force: true }));
    return new Computer(t, home);
  }

  private constructor(t: TestContext, home: string) {
    this.#t = t;
    this.#home = home;
  }

  start(...args: string[]): Command {
    const { PATH } = process.env;
    const environment = { PATH, HOME: this.#home, PLATFORM_DATA_DIR: path.join(this.#home, 'no-platform') };
    const command = new Command(args, { environment, cwd: this.#home });
    this.#t.after(() => command.child.kill('SIGKILL'));
    return command;
  }

  /** @returns what the command printed */
  async run(...args: string[]): Promise<string> {
    const { code, said } = await this.start(...args).ends();
    assert.equal(code, 0, said);
    return said;
  }

  async refused(...args: string[]): Promise<string> {
    const { code, said } = await this.start(...args).ends();
    assert.equal(code, 1, said);
    return said;
  }

  path(name: string): string {
    return path.join(this.#home, name);
  }
}

/** Begins a sign-in, and enters its code where the command line says. */
async function enterCode(page: Page, computer: Computer): Promise<Command> {
  const command = computer.start('login', platform.origin, '--name', 'my laptop');
  const [, address = ''] = /Open (\S+)\n/.exec(await command.hears(/Open \S+\n/)) ?? [];
  const [, code = ''] = /the code {2}(\S+)\n/.exec(await command.hears(/and enter the code {2}\S+\n/)) ?? [];
  await page.goto(address);
  await page.getByLabel('Code from your terminal', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByRole('dialog', { name: 'Sign in a command line?', exact: true }).waitFor();
  return command;
}

const LANGUAGES = { desktop: 'typescript', phone: 'javascript' } as const;

/** It installs what a project needs, and builds it, several times. */
const LIMIT = 400_000;

for (const [device, viewport] of DEVICES) {
  const language = LANGUAGES[device];
  test(`on a ${device}, a command line is allowed, tries an app out, publishes it, and is signed out`, {
    timeout: LIMIT,
  }, async (t) => {
    const { page, context, complaints } = await newPerson(browser, viewport);
    t.after(() => context.close());
    const author = `author-${device}`;
    await register(page, author);
    const computer = await Computer.new(t);
    const row = page.getByRole('listitem').filter({ hasText: 'my laptop' });
    const review = page.getByRole('dialog', { name: 'Sign in a command line?', exact: true });

    await t.test('a code that nobody showed is not taken', async () => {
      await page.goto(`${platform.origin}/#/settings/command-line`);
      await page.getByLabel('Code from your terminal', { exact: true }).fill('22222-22222');
      await page.getByRole('button', { name: 'Continue', exact: true }).click();
      await page.getByText(errors.author_request_ended.title).waitFor();
    });

    await t.test('without an answer of the person nothing is signed in', async () => {
      const command = await enterCode(page, computer);
      // Emptied once the answer is given.
      const emptied = page.locator('#cli-code:placeholder-shown:enabled');
      await pressInPrompt(review.getByRole('button', { name: 'Don’t allow', exact: true }), emptied);
      await command.hears(/The sign-in was denied in the shell\./);
      assert.equal((await command.ends()).code, 1);
      assert.equal(await row.count(), 0);
      assert.match(await computer.run('whoami'), /not signed in to any platform/);
    });

    await t.test('the review says what it may do; allowed, it is in Settings', async () => {
      const command = await enterCode(page, computer);
      const text = await review.innerText();
      assert.match(text, /It calls itself “my laptop”/);
      assert.match(text, /publish apps in your name[\s\S]*It cannot grant permissions/);
      assert.doesNotMatch(text, /another network/);
      await look(page, device, 'command-line-review');
      const allowed = page.getByText('You allowed my laptop. It is signed in within a few seconds.', { exact: true });
      await pressInPrompt(review.getByRole('button', { name: 'Allow', exact: true }), allowed);
      await command.hears(new RegExp(`Signed in to ${platform.origin} as ${author}, until \\d{4}-\\d\\d-\\d\\d\\.`));
      assert.equal((await command.ends()).code, 0);
      await row.getByText(/ends on/).waitFor();
      await look(page, device, 'command-line-settings');
      await settingsFit(page);
      assert.match(await computer.run('whoami'), new RegExp(`${author}, from my laptop, until`));
    });

    await t.test(`a new app in ${language} runs in the open browser with dev, and is published`, async () => {
      await computer.run('init', 'counter', '--kind', 'both', '--language', language, '--id', `counter-${device}`);
      if (language === 'typescript') await installFromCheckout(computer.path('counter'));
      await page.goto(`${platform.origin}/#/`);
      const dev = computer.start('dev', 'counter');
      await dev.hears(/Counter \(dev\) \S+ runs for/);
      const app = page.frameLocator('iframe[title="Counter (dev)"]');
      const count = app.getByRole('button', { name: 'Count', exact: true });
      await pressAway(tileOf(page, 'Counter (dev)'), count);
      await app.getByText('Counted to 0.', { exact: true }).waitFor();
      await count.click();
      await app.getByText('Counted to 1.', { exact: true }).waitFor();
      await look(page, device, `command-line-app-${language}`);
      dev.child.kill('SIGINT');
      assert.equal((await dev.ends()).code, 0);
      const said = await computer.run('publish', 'counter');
      assert.match(said, new RegExp(`Counter 1\\.0\\.0 is in the Store of ${platform.origin}, by ${author}\\.`));
    });

    await t.test('signed out in Settings, the next command says so', async () => {
      await page.goto(`${platform.origin}/#/settings/command-line`);
      await row.getByRole('button', { name: 'Sign out', exact: true }).click();
      await row.waitFor({ state: 'detached' });
      const ended = `The login to ${platform.origin} has ended. Run: ./platform login ${platform.origin}`;
      assert.ok((await computer.refused('whoami')).includes(ended));
      assert.ok((await computer.refused('publish', 'counter')).includes(ended));
    });

    await t.test('and the browser had nothing to complain about but the refused code', () => {
      // The directive is in the policy of apps for browsers that know it.
      const meant = /\/v1\/author\/requests\/review|Unrecognized Content-Security-Policy directive 'webrtc'/;
      assert.deepEqual(
        complaints.filter((one) => !meant.test(one)),
        [],
      );
    });
  });
}
