// Who may register, as people see it: a platform that is invitation only, the link of the operator, and one that is closed.
// Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson } from './browser.ts';
import { look } from './look.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace({ PLATFORM_REGISTRATION: 'invite' });
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function visitor(t: TestContext, viewport: { width: number; height: number }): Promise<Page> {
  const { context, page } = await newPerson(browser, viewport);
  t.after(() => context.close());
  return page;
}

async function invitation(): Promise<string> {
  const said = await runCommand(['account', 'invite'], place.environment);
  return /http\S+#invite=\S+/.exec(said)?.[0] ?? assert.fail(said);
}

for (const [device, viewport] of DEVICES) {
  test(`without an invitation the page says whom to ask, and with one a person registers, on a ${device}`, async (t) => {
    const page = await visitor(t, viewport);
    await page.goto(platform.origin);
    const heading = page.getByRole('heading', { name: 'Invitation only' });
    await heading.waitFor();
    assert.equal(await page.getByLabel('Account name').count(), 0);
    await look(page, device, 'invitation-only', [heading]);
    await page.getByRole('button', { name: 'Sign in instead' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await page.getByRole('button', { name: 'Create an account' }).click();
    await heading.waitFor();

    const link = await invitation();
    await page.goto(link);
    await page.getByText('You are invited.').waitFor();
    assert.equal(page.url(), `${platform.origin}/`, 'the token leaves the address at once');
    await look(page, device, 'invited', [page.getByRole('heading', { name: 'Create your account' })]);
    await page.getByLabel('Account name').fill(`guest-on-${device}`);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: `Account guest-on-${device}` }).waitFor();

    const other = await visitor(t, viewport);
    await other.goto(link);
    await other.getByLabel('Account name').fill('too-late');
    await other.getByRole('button', { name: 'Create account' }).click();
    const refusal = other.getByText(/This invitation does not work: it was used/);
    await refusal.waitFor();
    await look(other, device, 'invitation-used', [refusal]);
  });
}

test('a closed platform offers nobody to register', async (t) => {
  await platform.stop();
  platform = await startPlatform({
    ...place,
    environment: { ...place.environment, PLATFORM_REGISTRATION: 'closed' },
  });
  const page = await visitor(t, DESKTOP);
  await page.goto(platform.origin);
  await page.getByText('This platform takes no new accounts.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create an account' }).count(), 0);
  await look(page, 'desktop', 'closed', [page.getByRole('heading', { name: 'Sign in' })]);
});
