// The example Order as a person meets it, in real Chromium against a whole platform: an order whose backend is killed in each
// of its steps, and core once, finishes with every step done once; its timeline in Settings is drawn, live.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { LogEntry, Manifest, WorkflowSummary, WorkflowTimeline } from '@platform/contract';
import pg from 'pg';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  databaseUrlOf,
  killPart,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { publishExample } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, PHONE } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

/**
 * The backend of Order, but the pause after an effect lasts until the backend is killed, and the same step's next one
 * nothing: so that each step is interrupted once, after its effect and before its result is kept. Each pause writes down
 * under which keys there are effects.
 */
const MAIN = `
  import { appendFileSync, existsSync, readFileSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import timers from 'node:timers/promises';
  const file = process.env.PLATFORM_VOLUME_DIR + '/pauses';
  const wait = timers.setTimeout;
  timers.setTimeout = (milliseconds, value, options) => {
    const before = existsSync(file) ? readFileSync(file).length : 0;
    appendFileSync(file, '.');
    const keysIn = (name) => {
      const path = process.env.PLATFORM_VOLUME_DIR + '/' + name + '.json';
      return existsSync(path) ? JSON.parse(readFileSync(path)).map(({ key }) => key) : [];
    };
    console.log('booked ' + JSON.stringify(['reserved', 'paid', 'mailed'].map(keysIn)));
    return wait(before % 2 === 0 ? 2 ** 30 : 0, value, options);
  };
  syncBuiltinESMExports();
  await import('./server.mjs');
`;
const KILLED = 'order-killed';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  [platform, browser] = await Promise.all([startPlatform(place), launchBrowser()]);
  account = await registerAccount(platform, 'florist');
  const change = ({ workload }: Manifest) => ({ name: 'Killed Order', workload: { ...workload, entry: 'main.mjs' } });
  await publishExample(account, KILLED, { example: 'order', change, more: { 'workload/main.mjs': MAIN } });
  for (const appId of ['order', KILLED]) await account.browser.take('/v1/apps', { body: { appId } });
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function open(viewport: typeof PHONE | typeof DESKTOP, appId: string, name: string) {
  const context = await signedInContext({ browser, platform, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/${appId}`);
  return { context, page, app: page.frameLocator(`iframe[title="${name}"]`) };
}

async function runsOf(appId: string): Promise<readonly WorkflowSummary[]> {
  const { items } = await account.browser.take<{ items: WorkflowSummary[] }>(`/v1/apps/${appId}/workflows`);
  return items;
}

async function timelineOf(appId: string): Promise<WorkflowTimeline> {
  const [run] = await runsOf(appId);
  return account.browser.take<WorkflowTimeline>(`/v1/apps/${appId}/workflows/${run?.id}`);
}

/** Keys of what was reserved, paid and mailed, at the last pause of the backend. */
async function bookedKeys(): Promise<readonly (readonly string[])[]> {
  const { items } = await account.browser.take<{ items: LogEntry[] }>(`/v1/apps/${KILLED}/logs?limit=200`);
  const lines = items.filter(({ line }) => line.startsWith('booked '));
  const last = lines.reduce((newest, line) => (line.at >= newest.at ? line : newest));
  return JSON.parse(last.line.slice('booked '.length));
}

/** Resolves when this attempt of the step is under way. */
async function attempted(step: string, attempt: number): Promise<void> {
  await until(
    `attempt ${attempt} of ${step}`,
    async () => {
      const { activities } = await timelineOf(KILLED);
      const found = activities.find((one) => one.step === step);
      return found?.attempt === attempt && found.state === 'claimed';
    },
    120_000,
  );
}

/** The process of the backend, on this machine. */
async function backendPid(): Promise<number | undefined> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map<number, number>();
  const found: number[] = [];
  for (const id of ids) {
    // A process may end while it is looked at.
    const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
    parents.set(id, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    const [program = '', ...args] = (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (/(^|\/)node$/.test(program) && args.some((arg) => arg.endsWith('/main.mjs'))) found.push(id);
  }
  return found.find((id) => {
    let parent: number | undefined = id;
    while (parent !== undefined && parent > 1 && parent !== platform.pid) parent = parents.get(parent);
    return parent === platform.pid;
  });
}

/** `kill -9`, and a minute passes: the lease of what it did ends. */
async function killBackend(): Promise<void> {
  const pid = await until('the backend to run', backendPid, 120_000);
  process.kill(pid, 'SIGKILL');
  await until('the backend to be gone', async () => (await backendPid()) !== pid);
  const client = new pg.Client(await databaseUrlOf(place));
  await client.connect();
  await client.query(
    "UPDATE workflow_activities SET lease_expires_at = now() - interval '1 second' WHERE completed_at IS NULL",
  );
  await client.end();
}

async function order(app: FrameLocator, flowers: string): Promise<void> {
  await app.getByLabel('Flowers').selectOption({ label: flowers });
  await app.getByLabel('Email').fill('ada@example.com');
  await app.getByRole('button', { name: 'Place the order' }).click();
}

/** Settings → the app → Workflows → its newest run. */
async function openTimeline(page: Page, appId: string): Promise<void> {
  await page.goto(`${platform.origin}/#/settings/apps/${appId}`);
  await page.getByRole('link', { name: /order/ }).filter({ hasText: 'Running' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
}

test('an order whose backend is killed in each step, and core once, finishes with every step done once', async (t) => {
  const { context, page, app } = await open(DESKTOP, KILLED, 'Killed Order');
  t.after(() => context.close());
  await app.getByText('No orders yet.').waitFor();
  await order(app, 'Roses, €18.00');
  await app.getByText('Your order is placed.').waitFor();

  await app.getByText('Reserved').waitFor();
  await attempted('reserve', 1);
  await killBackend();
  await app.getByText('Paid (pretended)').waitFor();
  await attempted('pay', 1);
  await killBackend();
  await attempted('approve', 1);
  await killBackend();
  await attempted('approve', 2);
  await app.getByText('Waiting for your approval').waitFor();

  const settings = await context.newPage();
  await openTimeline(settings, KILLED);
  await settings.getByText(/^Running for .*, 2 attempts$/).waitFor();
  await look(settings, 'desktop', 'order-timeline-waiting', [settings.getByRole('heading', { name: 'Timeline' })]);

  await killPart(place, 'Core');
  await app.getByRole('button', { name: 'Approve' }).click();
  await app.getByText('Mailed to ada@example.com').waitFor();
  await attempted('mail', 1);
  await killBackend();
  await app.getByText('Finished').waitFor();

  const { run, activities, events } = await timelineOf(KILLED);
  assert.equal(run.status, 'completed');
  const expected = ['reserve', 'pay', 'approve', 'mail'];
  assert.deepEqual(
    activities.map(({ step, attempt, state }) => [step, attempt, state]),
    expected.map((step) => [step, 2, 'completed']),
  );
  const completed = events.filter(({ event }) => event === 'activity-completed').map(({ step }) => step);
  assert.deepEqual(completed, expected, 'each step was completed once');
  const keyOf = (step: string) => activities.find((activity) => activity.step === step)?.id;
  assert.deepEqual(
    await bookedKeys(),
    [[keyOf('reserve')], [keyOf('pay')], [keyOf('mail')]],
    'each effect is there once',
  );
  for (const line of ['Reserved', 'Paid (pretended)', 'Approved', 'Mailed to'])
    assert.equal(await app.getByText(line).count(), 1, line);

  await settings.getByRole('status').getByText('Finished').waitFor();
  await settings.getByText('4 of 4').waitFor();
  const pay = settings.locator('.step').filter({ hasText: 'charge-card' });
  await pay.getByText('What happened').click();
  await pay.getByText(/^Interrupted, and given up after /).waitFor();
  await look(settings, 'desktop', 'order-timeline', [settings.getByRole('heading', { name: 'Timeline' })]);
  await settings.setViewportSize(PHONE);
  await look(settings, 'phone', 'order-timeline', [settings.getByRole('heading', { name: 'Timeline' })]);
  await look(page, 'desktop', 'order-killed');
});

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} an order is placed once, refused and refunded`, async (t) => {
    const { context, page, app } = await open(viewport, 'order', 'Order');
    t.after(() => context.close());
    await app.getByRole('button', { name: 'Place the order' }).waitFor();
    const before = (await runsOf('order')).length;
    await order(app, 'Tulips, €12.00');
    await app.getByText('Waiting for your approval').waitFor();
    await look(page, device, 'order-waiting');
    await app.getByRole('button', { name: 'Refuse' }).focus();
    await page.keyboard.press('Enter');
    await until('the order to be refunded', async () => (await runsOf('order'))[0]?.status === 'completed', 60_000);
    const newest = app.locator('#orders > li').first();
    await newest.getByText('Finished').waitFor();
    await newest.getByText('We cannot deliver your order.').waitFor();
    await look(page, device, 'order');
    assert.equal((await runsOf('order')).length, before + 1);
    const { activities } = await timelineOf('order');
    assert.deepEqual(
      activities.map(({ step }) => step),
      ['reserve', 'pay', 'approve', 'refund', 'mail'],
    );
  });
}
