// `platform dev` with an open browser: what is saved in the editor is what one sees.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser, newPerson, pressAway, tileOf } from './browser.ts';

const ROOT = path.join(import.meta.dirname, '../..');

test('an open app shows the change of its page as soon as it is saved', async (t) => {
  const place = await platformPlace();
  const folder = await mkdtemp(path.join(tmpdir(), 'dev-notes-'));
  t.after(() => rm(folder, { recursive: true }));
  await cp(path.join(ROOT, 'examples/notes'), folder, { recursive: true });
  const platform = await startPlatform(place);
  t.after(async () => {
    await platform.stop();
    await place.remove();
  });
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const { page } = await newPerson(browser, DESKTOP);
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill('developer');
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.locator('iframe[title="Launcher"]').waitFor();

  const cli = ['packages/cli/src/main.ts', 'dev', folder, '--grant-all'];
  const dev = spawn(process.execPath, cli, { cwd: ROOT, env: platform.environment, stdio: 'ignore' });
  t.after(() => dev.kill('SIGKILL'));
  const icon = tileOf(page, 'Notes (dev)');
  const app = page.frameLocator('iframe[title="Notes (dev)"]');
  await pressAway(icon, app.getByRole('heading', { name: 'Notes', exact: true }));
  await app.getByLabel('New note').fill('Kept over versions');
  await app.getByRole('button', { name: 'Save note' }).click();
  await app.getByRole('listitem').filter({ hasText: 'Kept over versions' }).waitFor();

  const file = path.join(folder, 'frontend/index.html');
  await writeFile(file, (await readFile(file, 'utf8')).replace('<h1>Notes</h1>', '<h1>Better notes</h1>'));
  await app.getByRole('heading', { name: 'Better notes' }).waitFor();
  await app.getByRole('listitem').filter({ hasText: 'Kept over versions' }).waitFor();

  dev.kill('SIGINT');
  const [code] = await once(dev, 'exit');
  assert.equal(code, 0);
});
