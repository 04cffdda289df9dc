// Schedules as a person meets them, in real Chromium against a whole platform: added with a preview of their times, run by
// hand, paused, changed, deleted; on a desktop and on a phone, by day and by night, with the keyboard. Pictures go to
// SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { ScheduleFiring } from '@platform/contract';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { DESKTOP, DEVICES, launchBrowser, type PHONE } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

/** Keeps what it was called with; one of its triggers never works. */
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  const seen = [];
  http.createServer((request, response) => {
    if (request.url === '/seen') return response.end(JSON.stringify(seen));
    let text = '';
    request.on('data', (chunk) => { text += chunk; });
    request.on('end', () => {
      seen.push(JSON.parse(text));
      response.writeHead(request.url === '/jobs/broken' ? 500 : 204).end();
    });
  }).listen(Number(process.env.PORT));
`;
const MANIFEST = {
  name: 'Reports',
  workload: {
    runtime: 'node',
    entry: 'main.mjs',
    triggers: [
      { name: 'report', path: '/jobs/report' },
      { name: 'broken', path: '/jobs/broken' },
    ],
  },
};

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  const publisher = await registerAccount(platform, 'publisher');
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  await publishTestApp(publisher, 'reports', MANIFEST, files);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

type Viewport = typeof DESKTOP | typeof PHONE;

async function openSchedules(
  account: TestAccount,
  viewport: Viewport,
): Promise<{ page: Page; schedules: FrameLocator }> {
  const context = await signedInContext({ browser, platform, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/schedules`);
  return { page, schedules: page.frameLocator('iframe[title="Schedules"]') };
}

async function planner(name: string): Promise<TestAccount> {
  const account = await registerAccount(platform, name);
  await account.browser.take('/v1/apps', { body: { appId: 'reports' } });
  return account;
}

async function seen(account: TestAccount): Promise<ScheduleFiring[]> {
  const ask = await openBackend(platform, account, 'reports');
  return JSON.parse((await ask('/seen')).text) as ScheduleFiring[];
}

test('right after Notes is installed, it can be given something to do every day', async (t) => {
  const account = await registerAccount(platform, 'diarist');
  await account.browser.take('/v1/apps', { body: { appId: 'notes' } });
  const { page, schedules } = await openSchedules(account, DESKTOP);
  t.after(() => page.context().close());
  await schedules.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = schedules.getByRole('form', { name: 'New schedule' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Every morning');
  await form.getByRole('combobox', { name: 'What runs', exact: true }).selectOption({ label: 'Notes: daily-note' });
  await form.getByText('Data for the app').click();
  await form.getByLabel('JSON object').fill('{"text": "What was good yesterday?"}');
  await form.getByRole('button', { name: 'Add schedule' }).click();
  const morning = schedules.getByRole('article', { name: 'Every morning' });
  await morning.getByRole('button', { name: 'Run now: Every morning' }).click();
  await morning.getByText('Delivered').waitFor();
  const ask = await openBackend(platform, account, 'notes');
  const { notes } = JSON.parse((await ask('/notes')).text) as { notes: { text: string }[] };
  assert.equal(notes.length, 1);
  assert.match(notes[0]?.text ?? '', /^\w+day, \w+ \d+, \d{4}\nWhat was good yesterday\?$/);
  // Nobody but a schedule begins one.
  assert.equal((await ask('/jobs/daily-note', { scheduledFor: '2026-11-22T07:00:00.000Z' })).status, 404);
});

for (const [device, viewport] of DEVICES) {
  test(`without an app that can run at set times, Schedules says what to do, on a ${device}`, async (t) => {
    const { page, schedules } = await openSchedules(await registerAccount(platform, `empty-${device}`), viewport);
    t.after(() => page.context().close());
    await schedules.getByText('None of your apps can run at set times.').waitFor();
    assert.ok(await schedules.getByRole('button', { name: 'Add schedule' }).isDisabled());
    await look(page, device, 'schedules-empty');
  });

  test(`a schedule is added with a preview, runs by hand, is paused, changed and deleted, on a ${device}`, async (t) => {
    const account = await planner(`planner-${device}`);
    const { page, schedules } = await openSchedules(account, viewport);
    t.after(() => page.context().close());
    const add = schedules.getByRole('button', { name: 'Add schedule' }).first();
    await schedules.getByText('No schedules yet.').waitFor();
    await add.click();
    const form = schedules.getByRole('form', { name: 'New schedule' });
    const times = form.getByRole('region', { name: 'Next five times' });
    // The field has the focus.
    await page.keyboard.type('Morning report');
    await form.getByRole('combobox', { name: 'What runs', exact: true }).selectOption({ label: 'Reports: report' });
    await form.getByRole('combobox', { name: 'Time zone', exact: true }).selectOption('Europe/Berlin');
    await form.getByRole('combobox', { name: 'Repeats', exact: true }).selectOption({ label: 'By a cron line' });
    const line = form.getByRole('textbox', { name: 'Cron line' });
    await line.fill('0 8 */2 * MON');
    await times.getByText('Runs on days that match both day fields, because one begins with *.').waitFor();
    await line.fill('0 8 13 * FRI');
    await times.getByText('Runs on days that match either day field.').waitFor();
    await line.fill('0 0 30 2 *');
    await times.getByText('The cron line has no time in the future.').waitFor();
    await form.getByRole('button', { name: 'Add schedule' }).click();
    await form.getByRole('alert').getByText('The cron line has no time in the future.').waitFor();
    await form.getByRole('combobox', { name: 'Repeats', exact: true }).selectOption({ label: 'Every week' });
    await form.getByRole('combobox', { name: 'Day', exact: true }).selectOption({ label: 'Saturday' });
    await form.getByLabel('At', { exact: true }).fill('07:30');
    await times
      .getByText(/^Saturday, .*7:30/)
      .nth(4)
      .waitFor();
    await form.getByText('Data for the app').click();
    await form.getByLabel('JSON object').fill('[1]');
    await form.getByRole('textbox', { name: 'Name' }).press('Enter');
    await form.getByRole('alert').getByText('must be a JSON object').waitFor();
    await form.getByLabel('JSON object').fill('{"report": "full"}');
    await look(page, device, 'schedules-form', [form, times]);
    await form.getByRole('textbox', { name: 'Name' }).press('Enter');

    const report = schedules.getByRole('article', { name: 'Morning report' });
    await report.getByText('Every Saturday at 07:30').waitFor();
    await report.getByText(/^Next: Sat/).waitFor();
    await report.getByText('Not run yet.').waitFor();
    await report.getByRole('button', { name: 'Run now: Morning report' }).click();
    await report.getByText('Delivered').waitFor();
    const [firing, ...more] = await seen(account);
    assert.deepEqual(more, []);
    assert.deepEqual([firing?.name, firing?.payload], ['Morning report', { report: 'full' }]);

    await add.click();
    await form.getByRole('textbox', { name: 'Name' }).fill('Nightly clean-up');
    await form.getByRole('combobox', { name: 'What runs', exact: true }).selectOption({ label: 'Reports: broken' });
    await form.getByRole('button', { name: 'Add schedule' }).click();
    const broken = schedules.getByRole('article', { name: 'Nightly clean-up' });
    await broken.getByRole('button', { name: 'Run now: Nightly clean-up' }).click();
    await broken.getByText(/The backend answered 500\. Retrying/).waitFor();
    await report.getByRole('button', { name: 'Pause Morning report' }).click();
    await report.getByText('Paused', { exact: true }).waitFor();
    await look(page, device, 'schedules', [schedules.getByRole('heading', { name: 'Schedules' }), broken]);

    await report.getByRole('button', { name: 'Change Morning report' }).click();
    const change = schedules.getByRole('form', { name: 'Change schedule' });
    assert.equal(await change.getByRole('combobox', { name: 'Day', exact: true }).inputValue(), '6');
    await change.getByRole('combobox', { name: 'Repeats', exact: true }).selectOption({ label: 'Every hour' });
    await change.getByLabel('Minutes past the hour').fill('20');
    await change.getByRole('button', { name: 'Save' }).click();
    await report.getByText('Every hour, 20 min past').waitFor();
    await report.getByRole('button', { name: 'Resume Morning report' }).click();
    await report.getByText(/^Next: /).waitFor();

    // With the keyboard alone; the first answer is no.
    await broken.getByRole('button', { name: 'Delete Nightly clean-up' }).focus();
    await page.keyboard.press('Enter');
    await broken.getByText('Delete it?').waitFor();
    await page.keyboard.press('Enter');
    await broken.getByText('Delete it?').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await broken.getByRole('button', { name: 'Yes, delete' }).click();
    await broken.waitFor({ state: 'detached' });
    await report.waitFor();
  });
}

test('what was typed is there when the person comes back', async (t) => {
  const { page, schedules } = await openSchedules(await planner('forgetful'), DESKTOP);
  t.after(() => page.context().close());
  await schedules.getByRole('button', { name: 'Add schedule' }).click();
  await page.keyboard.type('Half a name');
  await page.goto(`${platform.origin}/#/app/settings`);
  await page.getByRole('heading', { name: 'Apps', exact: true }).waitFor();
  await page.goto(`${platform.origin}/#/app/schedules`);
  const form = schedules.getByRole('form', { name: 'New schedule' });
  await form.waitFor();
  assert.equal(await form.getByRole('textbox', { name: 'Name' }).inputValue(), 'Half a name');
  // Escape keeps what was typed.
  await form.getByRole('textbox', { name: 'Name' }).press('Escape');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await form.waitFor({ state: 'detached' });
});

test('an app that was removed is named as missing, and without its permission the app says what is missing', async (t) => {
  const account = await planner('remover');
  const { page, schedules } = await openSchedules(account, DESKTOP);
  t.after(() => page.context().close());
  await schedules.getByRole('button', { name: 'Add schedule' }).click();
  await page.keyboard.type('Orphan');
  await page.keyboard.press('Enter');
  const orphan = schedules.getByRole('article', { name: 'Orphan' });
  await orphan.waitFor();
  await account.fetch('/v1/apps/reports', { method: 'DELETE' });
  await orphan.getByText('Not installed').waitFor();
  await orphan.getByRole('button', { name: 'Run now: Orphan' }).click();
  await orphan.getByText('The app reports is not installed any more.').waitFor();
  await account.browser.take('/v1/apps/schedules/permissions', { method: 'PUT', body: { permissions: [] } });
  await orphan.getByRole('button', { name: 'Pause Orphan' }).click();
  await schedules
    .getByRole('alert')
    .getByText(/schedules\.manage/)
    .waitFor();
});
