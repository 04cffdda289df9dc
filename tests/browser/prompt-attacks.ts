// Hostile frames against prompts of the shell: presses that come too early, stolen focus, asking without end. Nothing is
// decided that the person did not decide. A part of shell-bridge-attack.test.ts, on the same platform.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Frame, Locator, Page } from 'playwright-core';
import type { TestAccount } from '../support/client.ts';
import { pressInPrompt } from './browser.ts';
import { type Attack, call, connect } from './hostile-app.ts';
import { look } from './look.ts';

/** In the frames of the apps. */
declare const attack: Attack;

export interface Scene {
  readonly account: TestAccount;
  /** With the app `hostile` in front, which may ask to install `prize`. */
  readonly page: Page;
  readonly frame: Frame;
}

async function installed(account: TestAccount): Promise<readonly string[]> {
  const { items } = await account.browser.take<{ items: readonly { appId: string }[] }>('/v1/apps?limit=200');
  return items.map(({ appId }) => appId);
}

/** Has the hostile app ask for an installation, and waits until the refusal has the focus. */
async function openPrompt({ page, frame }: Scene) {
  const port = await connect(frame);
  const answer = call(frame, port, 'apps.requestInstall', { appId: 'prize' });
  const dialog = page.getByRole('dialog', { name: 'Install prize?' });
  await dialog.waitFor();
  await refusalHasFocus(page);
  return { dialog, answer, approve: dialog.getByRole('button', { name: 'Install', exact: true }) };
}

async function refusalHasFocus(page: Page): Promise<void> {
  await page.waitForFunction(() => document.hasFocus() && document.activeElement?.textContent === 'Don’t install');
}

/** Presses the button again and again, but only right after a theft, until it is stopped. @returns how often it was pressed */
async function pressWhileStolen(button: Locator): Promise<() => Promise<number>> {
  const pressing = await button.evaluateHandle((element: HTMLElement) => {
    const pressed = { times: 0, stop: () => window.removeEventListener('blur', press) };
    const press = () => {
      element.click();
      pressed.times += 1;
    };
    window.addEventListener('blur', press);
    return pressed;
  });
  return () =>
    pressing.evaluate((pressed) => {
      pressed.stop();
      return pressed.times;
    });
}

/** @param scene that of the test that runs */
export function promptAttacks(scene: () => Scene): void {
  test('a press in the first half second of a prompt installs nothing', async () => {
    const { account, page, frame } = scene();
    const port = await connect(frame);
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        const approve = [...document.querySelectorAll('dialog button')].find(
          (button) => button.textContent === 'Install',
        );
        if (!(approve instanceof HTMLElement)) return;
        observer.disconnect();
        approve.click();
        document.body.dataset.pressed = 'yes';
      });
      observer.observe(document.body, { childList: true, subtree: true });
    });
    const answer = call(frame, port, 'apps.requestInstall', { appId: 'prize' });
    const dialog = page.getByRole('dialog', { name: 'Install prize?' });
    await dialog.waitFor();
    await page.locator('body[data-pressed]').waitFor();
    await dialog.getByRole('button', { name: 'Install', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(await answer, { installed: false });
    assert.ok(!(await installed(account)).includes('prize'));
  });

  test('a frame that takes the focus from a prompt loses it again, and the keys go to the prompt', async () => {
    const { page, frame } = scene();
    const { dialog, answer, approve } = await openPrompt(scene());
    assert.ok((await dialog.innerText()).includes(new URL(frame.url()).origin), 'the prompt names who asks');
    for (let thefts = 1; thefts <= 3; thefts += 1) {
      await frame.evaluate(() => attack.stealOnce());
      await frame.waitForFunction((times) => attack.thefts === times && !document.hasFocus(), thefts);
      await refusalHasFocus(page);
      await page.keyboard.press('Tab');
      await page.waitForFunction(() => document.activeElement?.textContent === 'Install');
    }
    assert.deepEqual(await frame.evaluate(() => attack.keys), []);
    assert.equal(await approve.getAttribute('aria-busy'), 'false');
    await page.keyboard.press('Escape');
    assert.deepEqual(await answer, { installed: false });
  });

  for (const way of ['steal', 'handOn'] as const)
    test(`a frame that takes the focus without end has no document until the person has answered (${way})`, async () => {
      const { account, page, frame } = scene();
      const { dialog, answer, approve } = await openPrompt(scene());
      // It ends without one together with its document.
      answer.catch(() => undefined);
      const presses = await pressWhileStolen(approve);
      // Its document may be gone before it has answered.
      await frame.evaluate((how) => attack[how](), way).catch(() => undefined);
      await page.locator('iframe').waitFor({ state: 'detached' });
      assert.ok((await presses()) > 0);
      assert.equal(await approve.getAttribute('aria-busy'), 'false', 'no press counted that came right after a theft');
      await refusalHasFocus(page);
      assert.equal(await page.getByText('hostile is closed while you answer').count(), 1);
      await look(page, 'desktop', `frames-withheld-by-prompt-${way}`);
      // Both answers work, by keys and by presses.
      await page.keyboard.press('Tab');
      await page.waitForFunction(() => document.activeElement?.textContent === 'Install');
      if (way === 'steal') await page.keyboard.press('Escape');
      else
        await pressInPrompt(
          dialog.getByRole('button', { name: 'Don’t install' }),
          page.locator('body:not(:has(dialog))'),
        );
      await dialog.waitFor({ state: 'detached' });
      await page.locator('iframe[title="hostile"]').waitFor();
      assert.ok(!(await installed(account)).includes('prize'));
    });

  test('critical permissions are off in the review, so a hurried yes does not grant them', async () => {
    const { account, page, frame } = scene();
    const port = await connect(frame);
    const answer = call(frame, port, 'apps.requestInstall', { appId: 'prize' });
    const dialog = page.getByRole('dialog');
    const critical = dialog.getByLabel('Ask to stop all your apps');
    await critical.waitFor();
    assert.equal(await critical.isChecked(), false);
    const done = page.getByRole('heading', { name: 'prize is installed' });
    const approve = dialog.getByRole('button', { name: 'Install', exact: true });
    // Presses of the first half second do not count; the button goes away once one did.
    while (!(await done.isVisible())) await approve.click({ timeout: 1_000 }).catch(() => done.waitFor());
    await dialog.getByRole('button', { name: 'Done' }).click();
    assert.deepEqual(await answer, { installed: true });
    const { permissions } = await account.browser.take<{ permissions: unknown[] }>('/v1/apps/prize/permissions');
    assert.deepEqual(permissions, []);
    await account.browser.fetch('/v1/apps/prize', { method: 'DELETE' });
  });

  test('an app that is refused again and again has to stop asking', async () => {
    const { page, frame } = scene();
    const port = await connect(frame);
    for (let times = 0; times < 3; times += 1) {
      const answer = call(frame, port, 'apps.requestInstall', { appId: 'prize' });
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      assert.deepEqual(await answer, { installed: false });
    }
    assert.equal(await call(frame, port, 'apps.requestInstall', { appId: 'prize' }), 'rate_limited');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });
}
