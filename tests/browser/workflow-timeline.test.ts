// Settings → an app → Workflows in real Chromium: lists of runs and their timelines, live while they run. The app calls core
// as through its Gateway; core's clock is the test's, so that runs take milliseconds and days.
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { limits, type WorkflowRun } from '@platform/contract';
import type { Browser, Page } from 'playwright-core';
import {
  activityFrom,
  claimedFrom,
  runFrom,
  type Workflows,
  workflowsOf,
} from '../../packages/core/test-support/workflows.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';
import { DESKTOP, DEVICES, launchBrowser, PHONE } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SHELL = path.join(import.meta.dirname, '../../packages/shell/dist');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let world: Constellation;
let browser: Browser;
let account: TestAccount;
const shops = new Map<string, Workflows>();
/** How far core's clock is behind. */
let behind = 3 * DAY + 5 * HOUR;

before(async () => {
  const config = { shellDirectory: SHELL };
  world = await startConstellation({ config, clock: () => new Date(Date.now() - behind) });
  account = await registerAccount(world, 'merchant');
  // Before days pass: the node's credential ends after some hours.
  for (const name of ['Flower Shop', 'Live Shop', 'Large Shop', 'Busy Shop']) {
    const appId = name.toLowerCase().replace(' ', '-');
    shops.set(appId, workflowsOf(await installTestApp(world, account, appId, [], { name })));
  }
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await world?.close();
});

function shopOf(appId: string): Workflows {
  const shop = shops.get(appId);
  assert.ok(shop !== undefined);
  return shop;
}

const pass = (milliseconds: number) => {
  behind -= milliseconds;
};

const created = async (workflows: Workflows, idempotencyKey: string, more: object = {}): Promise<WorkflowRun> =>
  runFrom(await workflows.create({ idempotencyKey, durationSeconds: 7 * 86_400, ...more }), 201);

interface Work {
  readonly activity?: string;
  readonly input?: unknown;
  readonly takes?: number;
}

async function complete(workflows: Workflows, id: string, step: string, work: Work = {}): Promise<void> {
  const { activity = step, input = null, takes = 0 } = work;
  const claim = claimedFrom(await workflows.claim(id, step, { activity, input }));
  pass(takes);
  activityFrom(await workflows.complete(id, claim.id, { leaseToken: claim.leaseToken, result: { step } }));
}

async function fail(workflows: Workflows, id: string, step: string, activity: string): Promise<void> {
  const claim = claimedFrom(await workflows.claim(id, step, { activity, input: { amount: 12 } }));
  const error = { code: 'card_declined', message: 'The card was declined.' };
  activityFrom(await workflows.complete(id, claim.id, { leaseToken: claim.leaseToken, error }));
}

async function openPage(viewport: typeof PHONE | typeof DESKTOP, hash: string): Promise<Page> {
  const context = await signedInContext({ browser, platform: world, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${world.origin}/#/settings/apps/${hash}`);
  return page;
}

/** Bars of one step: their kinds, and whether all are drawn within their lane. */
function bars(page: Page, step: string): Promise<readonly string[]> {
  const lane = page.getByRole('listitem').filter({ has: page.getByText(step, { exact: true }) });
  return lane.locator('.lane').evaluate((element) => {
    const within = element.getBoundingClientRect();
    return [...element.querySelectorAll('span')].map((bar) => {
      const { left, right, width } = bar.getBoundingClientRect();
      const isWithin = left >= within.left - 0.5 && right <= within.right + 0.5 && width >= 2.5;
      return `${bar.className}${isWithin ? '' : ' beyond its lane'}`;
    });
  });
}

test('a run of three days: attempts, interruptions, waits and sizes', async (t) => {
  const shop = shopOf('flower-shop');
  const { id } = await created(shop, 'order-1042', { definition: 'place-order', input: { flowers: 'tulips' } });
  await complete(shop, id, 'reserve', { activity: 'reserve-stock', takes: 340 });
  await fail(shop, id, 'pay', 'charge-card');
  pass(20 * MINUTE);
  claimedFrom(await shop.claim(id, 'pay', { activity: 'charge-card', input: { amount: 12 } }));
  pass(5 * HOUR);
  await complete(shop, id, 'pay', { activity: 'charge-card', input: { amount: 12 }, takes: 1_200 });
  pass(2 * DAY);
  await complete(shop, id, 'approval', { activity: 'wait-for-approval', takes: 40_000 });
  const mail = claimedFrom(await shop.claim(id, 'mail', { activity: 'send-mail' }));
  pass(behind);
  for (const [device, viewport] of DEVICES) {
    const page = await openPage(viewport, 'flower-shop');
    t.after(() => page.context().close());
    const row = page.getByRole('link', { name: 'order-1042' });
    await row.getByText('Running').waitFor();
    await row.scrollIntoViewIfNeeded();
    await look(page, device, 'app-workflows');
    await row.focus();
    await page.keyboard.press('Enter');
    await page.getByText('3 of 4').waitFor();
    const pay = page.getByRole('listitem').filter({ hasText: 'charge-card' });
    await pay.getByText('Finished in 5 h 20 min, 3 attempts').waitFor();
    await pay.getByText('input 13 bytes, result 14 bytes').waitFor();
    await pay.getByText('What happened').press('Enter');
    await pay.getByText('Waited 20 min for the next attempt').waitFor();
    await pay.getByText('Interrupted, and given up after 5 h').waitFor();
    await page.getByText(/^No process has worked on it for \d+ h/).waitFor();
    assert.deepEqual(await bars(page, 'pay'), ['bar-failed', 'bar-waiting', 'bar-lost', 'bar-done']);
    assert.deepEqual(await bars(page, 'mail'), ['bar-lost', 'bar-waiting']);
    await settingsFit(page);
    await look(page, device, 'workflow-days', [
      page.getByRole('heading', { name: 'place-order' }),
      page.getByRole('heading', { name: 'Timeline' }),
    ]);
  }
  const again = claimedFrom(await shop.claim(id, 'mail', { activity: 'send-mail' }));
  assert.equal(again.id, mail.id);
});

test('a run is drawn live until it ends, in words that are read out', async (t) => {
  const shop = shopOf('live-shop');
  const { id } = await created(shop, 'order-7');
  const page = await openPage(DESKTOP, `live-shop/workflows/${id}`);
  t.after(() => page.context().close());
  await page.getByText('No steps yet').waitFor();
  const claim = claimedFrom(await shop.claim(id, 'reserve', { activity: 'reserve-stock' }));
  await page.getByText(/^Running for /).waitFor();
  assert.deepEqual(await bars(page, 'reserve'), ['bar-working']);
  await look(page, 'desktop', 'workflow-running');
  await shop.complete(id, claim.id, { leaseToken: claim.leaseToken, result: 1 });
  await page.getByText(/^Finished in /).waitFor();
  await complete(shop, id, 'pay');
  await page.getByText('2 of 2').waitFor();
  runFrom(await shop.end(id, { status: 'failed', error: { code: 'no_stock', message: 'Nothing left.\nSorry.' } }));
  await page.getByRole('status').getByText('Failed').waitFor();
  await page.getByText('no_stock').waitFor();
  await look(page, 'desktop', 'workflow-failed');
});

test('a run of 256 steps with the longest names, and one of three milliseconds', async (t) => {
  const shop = shopOf('large-shop');
  const longest = 'W'.repeat(limits.workflowName.value);
  const key = 'k'.repeat(limits.workflowIdempotencyKey.value);
  const large = await created(shop, key, { definition: longest });
  for (let index = 0; index < limits.workflowActivities.value; index += 1)
    await complete(shop, large.id, `${index}-${'s'.repeat(128 - 4)}`.slice(0, 128), { activity: longest, takes: 5 });
  runFrom(await shop.end(large.id, { status: 'completed', result: 'x'.repeat(60_000) }));
  const quick = await created(shop, 'quick');
  await shop.end(quick.id, { status: 'completed' });
  const cancelled = await created(shop, 'gone');
  claimedFrom(await shop.claim(cancelled.id, 'reserve'));
  assert.equal((await shop.remove(cancelled.id)).status, 204);
  for (const [device, viewport] of DEVICES) {
    const page = await openPage(viewport, 'large-shop/workflows');
    t.after(() => page.context().close());
    await page.getByRole('link', { name: 'gone' }).getByText('Cancelled').waitFor();
    await settingsFit(page);
    await look(page, device, 'workflows');
    await page.getByRole('link', { name: key }).click();
    await page.getByText('256 of 256').waitFor();
    await settingsFit(page);
    await look(page, device, 'workflow-large', [
      page.getByRole('heading', { name: longest }),
      page.getByRole('heading', { name: 'Timeline' }),
      page.getByRole('button', { name: 'Show 226 more steps' }),
    ]);
    await page.getByRole('button', { name: 'Show 226 more steps' }).click();
    await page.getByText(`128-${'s'.repeat(124)}`).waitFor();
    assert.equal(await page.locator('.step').count(), 256);
    await page.goto(`${world.origin}/#/settings/apps/large-shop/workflows/${cancelled.id}`);
    await page.getByText(/^Not finished after /).waitFor();
    assert.deepEqual(await bars(page, 'reserve'), ['bar-stopped']);
    await look(page, device, 'workflow-cancelled');
    await page.goto(`${world.origin}/#/settings/apps/large-shop/workflows/${quick.id}`);
    await page.getByText('No steps', { exact: true }).waitFor();
  }
});

test('lists have pages, states to choose from, and words for nothing', async (t) => {
  const shop = shopOf('busy-shop');
  const page = await openPage(PHONE, 'busy-shop/workflows');
  t.after(() => page.context().close());
  await page.getByText('No workflow runs yet').waitFor();
  await look(page, 'phone', 'workflows-none');
  for (let index = 0; index < 60; index += 1) {
    pass(1);
    const { id } = await created(shop, `order-${index}`);
    if (index % 2 === 0) runFrom(await shop.end(id, { status: 'completed' }));
  }
  const rows = page.locator('.runs > li');
  await page.getByText('order-59', { exact: true }).waitFor();
  const older = page.getByRole('button', { name: 'Show older runs' });
  await older.press('Enter');
  await page.getByText('order-10', { exact: true }).waitFor();
  await older.press('Enter');
  await page.getByText('order-0', { exact: true }).waitFor();
  await older.waitFor({ state: 'detached' });
  assert.equal(await rows.count(), 60);
  await created(shop, 'order-60');
  await page.getByText('order-60', { exact: true }).waitFor();
  assert.equal(await rows.count(), 61, 'a reading keeps what is shown');
  await page.getByRole('combobox', { name: 'Show' }).selectOption('Finished');
  await page.getByText('order-58', { exact: true }).waitFor();
  assert.equal(await page.getByText('order-59', { exact: true }).count(), 0);
  await page.getByRole('combobox', { name: 'Show' }).selectOption('Expired');
  await page.getByText('No runs in this state').waitFor();
  await page.goto(`${world.origin}/#/settings/apps/busy-shop/workflows/wf-00000000-0000-7000-8000-000000000000`);
  await page.getByText('There is no such workflow run, or it was removed.').waitFor();
});
