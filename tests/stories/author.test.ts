// The first days of an author, at a shell in a folder of their own and in browsers: begins an app, tries it out while it
// changes, publishes it, and goes on from a laptop; a friend installs the app, updates it and goes back.
import { strict as assert } from 'node:assert';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import {
  DESKTOP,
  launchBrowser,
  newPerson,
  noDialog,
  type Person,
  pressAway,
  pressInPrompt,
  tileOf,
} from '../browser/browser.ts';
import { Command, PLATFORM } from '../support/cli-command.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { STORY_MS } from '../support/wait.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
/** Where the author's projects are. */
let desk = '';
const running: Command[] = [];

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
  desk = await mkdtemp(path.join(tmpdir(), 'author-'));
});
after(async () => {
  for (const command of running) command.child.kill('SIGKILL');
  await browser?.close();
  await platform?.stop();
  await place?.remove();
  await rm(desk, { recursive: true, force: true });
});

interface Machine {
  /** A command at a terminal, which the author can answer. */
  types(...args: string[]): Command;
  /** A command that ends well. @returns what it wrote */
  succeeds(...args: string[]): Promise<string>;
  /** A command that does not. @returns what it wrote */
  fails(...args: string[]): Promise<string>;
}

function machine(environment: NodeJS.ProcessEnv): Machine {
  const begin = (args: readonly string[], terminal: boolean) => {
    const command = new Command(args, { environment, cwd: desk, program: PLATFORM, terminal });
    running.push(command);
    return command;
  };
  return {
    types: (...args) => begin(args, true),
    async succeeds(...args) {
      const { code, said } = await begin(args, false).ends();
      assert.equal(code, 0, said);
      return said;
    },
    async fails(...args) {
      const { code, said } = await begin(args, false).ends();
      assert.notEqual(code, 0, said);
      return said;
    },
  };
}

/** Ctrl-C. */
async function interrupt(command: Command): Promise<void> {
  command.types('\u0003');
  await command.ends();
}

const project = (file: string) => path.join(desk, 'recipes', file);

/** As editors save that keep the former file until the new one is complete. */
async function save(file: string, text: string): Promise<void> {
  await writeFile(project(`${file}~`), text);
  await rename(project(`${file}~`), project(file));
}

async function saveManifest(change: Readonly<Record<string, unknown>>): Promise<void> {
  const manifest = JSON.parse(await readFile(project('manifest.json'), 'utf8'));
  await save('manifest.json', JSON.stringify({ ...manifest, ...change }, null, 2));
}

const pageThatSays = (words: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Recipes</title><main><h1>${words}</h1></main></html>`;
const backendThatSays = (words: string) => `
  const http = process.getBuiltinModule('node:http');
  console.log(${JSON.stringify(words)});
  http.createServer((request, response) => response.end('ok')).listen(Number(process.env.PORT));
`;

async function registered(account: string): Promise<Person> {
  const person = await newPerson(browser, DESKTOP);
  await person.page.goto(place.origin);
  await person.page.getByLabel('Account name').fill(account);
  await person.page.getByRole('button', { name: /^Create account/ }).click();
  await person.page.getByRole('button', { name: `Account ${account}` }).waitFor();
  return person;
}

const frameOf = (page: Page, title: string): FrameLocator => page.frameLocator(`iframe[title="${title}"]`);

async function goTo(page: Page, hash: string): Promise<void> {
  await page.goto(`${place.origin}/${hash}`);
}

test('the first days of an author', { timeout: STORY_MS }, async (t) => {
  const step = async (promise: string, work: () => Promise<void>) => {
    let done = false;
    await t.test(promise, async () => {
      await work();
      done = true;
    });
    assert.ok(done, `the story ended where the author ${promise}`);
  };
  const server = machine(place.environment);
  const { PATH } = process.env;
  const laptop = machine({
    ...{ PATH, HOME: path.join(desk, 'home'), XDG_CONFIG_HOME: path.join(desk, 'home/.config') },
    PLATFORM_DATA_DIR: path.join(desk, 'no-platform'),
  });
  let ada: Person;
  let finn: Person;
  let dev: Command;

  await step('begins an app with a page and a backend', async () => {
    ada = await registered('ada');
    await server.succeeds('init', 'recipes', '--kind', 'both', '--language', 'javascript');
    assert.match(JSON.parse(await readFile(project('manifest.json'), 'utf8')).$schema, /schema/);
  });

  await step('runs it as it is, and opens it', async () => {
    dev = server.types('dev', 'recipes');
    const begun = await dev.hears(/asks for permission to[\s\S]*\[y\/N\]|runs for ada/);
    if (begun.includes('[y/N]')) {
      dev.types('y');
      await dev.hears(/runs for ada/);
    }
    await pressAway(
      tileOf(ada.page, 'Recipes (dev)'),
      frameOf(ada.page, 'Recipes (dev)').getByRole('heading', { level: 1 }),
    );
  });

  await step('is asked for the permission that the app requests next, and sees every change at once', async () => {
    const reason = 'Reminds you to buy milk.';
    await saveManifest({ permissions: [{ id: 'notifications.publish', resources: ['shopping'], reason }] });
    assert.match(await dev.hears(/asks for permission to[\s\S]*\[y\/N\]/), /shopping[\s\S]*Reminds you to buy milk/);
    dev.types('n');
    await dev.hears(/runs again for ada[\s\S]*runs without permission to[\s\S]*shopping/);

    await save('frontend/index.html', pageThatSays('Pancakes'));
    await frameOf(ada.page, 'Recipes (dev)').getByRole('heading', { name: 'Pancakes' }).waitFor();
    await save('workload/server.mjs', backendThatSays('the oven is hot'));
    await dev.hears(/the oven is hot/);
  });

  await step('reads what is wrong with a manifest, and repairs it', async () => {
    const { summary } = JSON.parse(await readFile(project('manifest.json'), 'utf8'));
    await saveManifest({ summary: undefined });
    await dev.hears(/`summary` is missing/);
    await saveManifest({ summary });
    await dev.hears(/runs again for ada/);
    await interrupt(dev);
  });

  await step('publishes it, and a friend finds and installs it', async () => {
    assert.match(await server.succeeds('publish', 'recipes'), /is in the Store, by ada/);
    finn = await registered('finn');
    await goTo(finn.page, '#/app/store');
    const store = frameOf(finn.page, 'Store');
    await store.getByLabel('Find an app').fill('recipes');
    await store.getByRole('button', { name: 'Install Recipes' }).click();
    const review = finn.page.getByRole('dialog', { name: 'Install Recipes?' });
    await review.getByText('Reminds you to buy milk.').waitFor();
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      finn.page.getByRole('heading', { name: 'Recipes is installed' }),
    );
    await pressInPrompt(
      finn.page.getByRole('button', { name: 'Open Recipes', exact: true }),
      frameOf(finn.page, 'Recipes').getByRole('heading', { name: 'Pancakes' }),
    );
  });

  await step('signs in a laptop with a code', async () => {
    const login = laptop.types('login', place.origin, '--name', 'my laptop');
    const [, code = ''] = /code {2}(\S+)/.exec(await login.hears(/code {2}\S+\n/)) ?? [];
    await goTo(ada.page, '#/settings/command-line');
    await ada.page.getByLabel('Code from your terminal').fill(code);
    await ada.page.getByRole('button', { name: 'Continue' }).click();
    const review = ada.page.getByRole('dialog', { name: 'Sign in a command line?' });
    await review.getByText('It calls itself “my laptop”').waitFor();
    await pressInPrompt(review.getByRole('button', { name: 'Allow', exact: true }), noDialog(ada.page));
    await login.hears(/Signed in to \S+ as ada/);
    assert.equal((await login.ends()).code, 0);
    await ada.page.getByText('my laptop', { exact: true }).waitFor();
  });

  await step('publishes an update from there, and the friend reads what is new', async () => {
    const { permissions } = JSON.parse(await readFile(project('manifest.json'), 'utf8'));
    await saveManifest({
      version: '2.0.0',
      changes: 'Waffles.',
      permissions: [...permissions, { id: 'search.index', resources: ['self'], reason: 'Finds recipes from home.' }],
    });
    await save('frontend/index.html', pageThatSays('Waffles'));
    await laptop.succeeds('publish', 'recipes');

    await goTo(finn.page, '#/');
    await tileOf(finn.page, 'Recipes')
      .and(frameOf(finn.page, 'Launcher').getByRole('button', { name: /Update available/ }))
      .waitFor();
    await goTo(finn.page, '#/settings/apps/recipes');
    await finn.page.getByRole('button', { name: 'Update to 2.0.0' }).click();
    const review = finn.page.getByRole('dialog', { name: 'Update Recipes?' });
    await review.getByText('Finds recipes from home.').waitFor();
    await review.getByText('Waffles.').waitFor();
    await pressInPrompt(review.getByRole('button', { name: 'Update', exact: true }), noDialog(finn.page));
    await finn.page.getByText('Version 2.0.0').waitFor();
  });

  await step('tries the next version there, and reads its log', async () => {
    const far = laptop.types('dev', 'recipes');
    await far.hears(/runs for ada/);
    await save('workload/server.mjs', backendThatSays('the oven is cold'));
    await far.hears(/the oven is cold/);
    await interrupt(far);
    assert.match(await laptop.succeeds('logs', 'recipes-dev'), /the oven is cold/);
  });

  await step('sees that the friend can go back', async () => {
    const back = finn.page.getByRole('dialog', { name: 'Go back to Recipes 1.0.0?' });
    await pressInPrompt(finn.page.getByRole('button', { name: 'Go back to 1.0.0' }), back);
    await pressInPrompt(back.getByRole('button', { name: 'Go back to 1.0.0' }), noDialog(finn.page));
    await finn.page.getByText('Version 1.0.0').waitFor();
    await goTo(finn.page, '#/');
    await pressAway(
      tileOf(finn.page, 'Recipes'),
      frameOf(finn.page, 'Recipes').getByRole('heading', { name: 'Pancakes' }),
    );
  });

  await step('signs the laptop out in Settings, and it can do nothing more', async () => {
    const row = ada.page.getByRole('listitem').filter({ hasText: 'my laptop' });
    await row.getByRole('button', { name: 'Sign out' }).click();
    await row.waitFor({ state: 'detached' });
    await saveManifest({ version: '3.0.0' });
    assert.match(await laptop.fails('publish', 'recipes'), /The login to \S+ has ended\. Run: \.\/platform login/);
    await goTo(finn.page, '#/app/store');
    await frameOf(finn.page, 'Store').getByRole('button', { name: 'Update Recipes to 2.0.0' }).waitFor();
  });
});
