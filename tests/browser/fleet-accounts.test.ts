// The operator looks after accounts in Fleet: finds one, sees what it takes, suspends, resumes, changes its plan, deletes it,
// invites people; and an ordinary account sees nothing of it. Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, FrameLocator, Locator } from 'playwright-core';
import { registerAccount, signIn, type TestAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { problemCode } from '../support/raw-http.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson, noDialog, type Person, pressInPrompt } from './browser.ts';
import { look } from './look.ts';

const SERVER = `
  process.getBuiltinModule('node:http')
    .createServer((request, response) => response.end('here'))
    .listen(Number(process.env.PORT));
`;
/** Besides the landlord and the tenant; with them more than one page. */
const GUESTS = Array.from({ length: 50 }, (_, index) => `guest-${String(index).padStart(2, '0')}`);

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let landlord: Person;
let fleet: FrameLocator;
let tenant: TestAccount;

before(async () => {
  place = await platformPlace({ PLATFORM_MASTER_ACCOUNT: 'landlord' });
  platform = await startPlatform(place);
  browser = await launchBrowser();
  landlord = await newPerson(browser, DESKTOP);
  await landlord.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: platform.origin });
  const { page } = landlord;
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill('landlord');
  await page.getByRole('button', { name: 'Create account', exact: true }).click();
  await page.getByRole('button', { name: 'Account landlord' }).waitFor();
  tenant = await registerAccount(platform, 'tenant');
  const workload = { runtime: 'node', entry: 'main.mjs', volume: true, resources: { diskMiB: 64 } };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  await publishTestApp(tenant, 'arena', { name: 'Arena', workload }, files);
  await tenant.browser.take('/v1/apps', { body: { appId: 'arena' } });
  for (const name of GUESTS) await registerAccount(platform, name);
  await page.goto(`${platform.origin}/#/app/fleet`);
  fleet = page.frameLocator('iframe[title="Fleet"]');
  await turnTo('Accounts');
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function turnTo(page: 'Overview' | 'Accounts' | 'Invitations'): Promise<void> {
  const button = fleet.getByRole('button', { name: page, exact: true });
  await button.click();
  await button.and(fleet.locator('[aria-current="page"]')).waitFor();
}

const rows = () => fleet.getByRole('list', { name: 'Accounts', exact: true }).getByRole('listitem');
const rowOf = (name: string) =>
  rows().filter({ has: fleet.getByRole('heading', { name: new RegExp(`^${name}\\b(?!-)`) }) });

/** Who may register is a setting of the start. */
async function restart(registration: 'invite' | 'closed'): Promise<void> {
  await platform.stop();
  const environment = { ...place.environment, PLATFORM_REGISTRATION: registration };
  platform = await startPlatform({ ...place, environment });
  await landlord.page.reload();
}

/** Finds one account by its name and opens what can be done with it. */
async function manage(name: string): Promise<Locator> {
  await fleet.getByLabel('Find by name').fill(name);
  const row = rowOf(name);
  const open = row.getByRole('button', { name: `Manage ${name}`, exact: true });
  const close = row.getByRole('button', { name: `Close ${name}`, exact: true });
  await open.or(close).waitFor();
  if (await open.isVisible()) await open.click();
  await close.waitFor();
  return row;
}

const dialog = (name: string) => landlord.page.getByRole('dialog', { name, exact: true });

/** Presses a button of Fleet, and answers what the shell then asks. */
async function agrees(button: Locator, question: string, answer: string, outcome: string): Promise<void> {
  await button.click();
  const asked = dialog(question);
  await asked.getByText(/^http.*:\/\/fleet--/).waitFor();
  const said = fleet.getByRole('status').getByText(outcome, { exact: true });
  await pressInPrompt(asked.getByRole('button', { name: answer, exact: true }), said);
}

async function lookOnBoth(name: string, parts: readonly Locator[] = []): Promise<void> {
  for (const [device, viewport] of DEVICES) {
    await landlord.page.setViewportSize(viewport);
    await look(landlord.page, device, name, parts);
  }
  await landlord.page.setViewportSize(DESKTOP);
}

test('accounts are listed by name, page by page, and found by a part of the name', async () => {
  await rows().first().waitFor();
  assert.equal(await rows().count(), 50);
  await fleet.getByRole('button', { name: 'Show more', exact: true }).click();
  await rows().nth(51).waitFor();
  const names = await rows().getByRole('heading').allInnerTexts();
  const found = names.map((text) => text.split(/\s/, 1)[0] ?? '');
  assert.deepEqual(found, [...GUESTS, 'landlord', 'tenant']);
  assert.equal(await fleet.getByRole('button', { name: 'Show more', exact: true }).count(), 0);
  await lookOnBoth('fleet-accounts');

  await fleet.getByLabel('Find by name').fill('T-4');
  await rows().nth(10).waitFor({ state: 'detached' });
  assert.equal(await rows().count(), 10);
  await fleet.getByLabel('Find by name').fill('nobody');
  await fleet.getByText('No account has “nobody” in its name.', { exact: true }).waitFor();
});

test('an account shows what takes its disk space, by app', async () => {
  const row = await manage('tenant');
  assert.match(await row.innerText(), /\d+ apps · 64 MiB of disk · 1 session · last seen/);
  const list = row.getByRole('list', { name: 'Disk space of tenant by app', exact: true });
  const arena = list.getByRole('listitem').filter({ hasText: 'Arena' });
  assert.match(await arena.innerText(), /^Arena\s+64 MiB volume, 4 KiB packages$/);
  await lookOnBoth('fleet-account', [row]);
});

test('the operator is asked before a suspension, which ends the sessions of the account, and resumes it', async () => {
  const row = await manage('tenant');
  await row.getByRole('button', { name: 'Suspend …', exact: true }).click();
  const asked = dialog('Suspend tenant?');
  await lookOnBoth('fleet-suspend');
  await row.getByText('active').waitFor();
  await pressInPrompt(asked.getByRole('button', { name: 'Cancel', exact: true }), noDialog(landlord.page));
  assert.equal((await tenant.fetch('/v1/apps')).status, 200);

  const suspend = row.getByRole('button', { name: 'Suspend …', exact: true });
  await agrees(suspend, 'Suspend tenant?', 'Suspend tenant', 'tenant is suspended.');
  await row.getByText('suspended', { exact: true }).waitFor();
  assert.equal((await tenant.fetch('/v1/apps')).status, 401);
  await assert.rejects(signIn(platform, tenant.authenticator));

  const resume = row.getByRole('button', { name: 'Resume …', exact: true });
  await agrees(resume, 'Resume tenant?', 'Resume tenant', 'tenant can sign in again.');
  await row.getByText('active', { exact: true }).waitFor();
  tenant = await signIn(platform, tenant.authenticator);
});

test('the operator changes a plan, and gives back the default', async () => {
  const row = await manage('tenant');
  const change = row.getByRole('button', { name: 'Change plan …', exact: true });
  assert.ok(await change.isDisabled(), 'nothing to change');
  await row.getByLabel('Plan', { exact: true }).selectOption('Paid');
  await agrees(change, 'Give tenant the paid plan?', 'Paid plan', 'tenant has the paid plan.');
  await row.getByText('paid plan', { exact: true }).waitFor();
  assert.match(await runCommand(['account', 'list'], place.environment), /^tenant +active +paid /m);
  await row.getByLabel('Plan', { exact: true }).selectOption('Default');
  await agrees(change, 'Give tenant the default plan?', 'Default plan', 'tenant has the default plan.');
  await row.getByText('free plan', { exact: true }).waitFor();
});

test('the master account can be neither suspended nor deleted here', async () => {
  const row = await manage('landlord');
  await row.getByText('master account', { exact: true }).waitFor();
  await row.getByText(/first make another account the operator/).waitFor();
  for (const name of ['Suspend …', 'Delete …']) assert.equal(await row.getByRole('button', { name }).count(), 0);
});

test('an account is deleted once its name was typed and a passkey confirmed it', async () => {
  const row = await manage('guest-07');
  await row.getByRole('button', { name: 'Delete …', exact: true }).click();
  const remove = row.getByRole('button', { name: 'Delete guest-07 …', exact: true });
  const field = row.getByLabel('Type guest-07 to confirm', { exact: true });
  await field.fill('guest-08');
  assert.ok(await remove.isDisabled());
  await field.fill('guest-07');
  await lookOnBoth('fleet-delete-account', [row]);
  await remove.click();
  const asked = dialog('Delete guest-07?');
  await lookOnBoth('fleet-delete-review');
  const said = fleet.getByRole('status').getByText('guest-07 is deleted.', { exact: true });
  await pressInPrompt(asked.getByRole('button', { name: 'Delete guest-07', exact: true }), said);
  await fleet.getByText('No account has “guest-07” in its name.', { exact: true }).waitFor();
  assert.doesNotMatch(await runCommand(['account', 'list'], place.environment), /guest-07/);
});

test('the operator invites, sees the link once, and withdraws an invitation', async () => {
  await turnTo('Invitations');
  await fleet.getByText('No invitations wait to be used.', { exact: true }).waitFor();
  await fleet.getByText(/^Anyone can register here without an invitation\./).waitFor();
  await lookOnBoth('fleet-no-invitations');
  await restart('invite');
  await fleet.getByText('No invitations wait to be used.', { exact: true }).waitFor();
  assert.equal(await fleet.getByText(/^Anyone can register/).count(), 0);
  const name = fleet.getByLabel('Account name (optional)', { exact: true });
  const create = fleet.getByRole('button', { name: 'Create invitation …', exact: true });
  await name.fill('7-dwarfs');
  await create.click();
  await fleet.getByRole('alert').getByText('The name must start with a letter.', { exact: true }).waitFor();

  await name.fill('Newcomer');
  await create.click();
  const asked = dialog('Invite newcomer?');
  const made = dialog('Invitation link for newcomer');
  await pressInPrompt(asked.getByRole('button', { name: 'Create link', exact: true }), made);
  const link = await made.getByText(/#invite=piv_/).innerText();
  await lookOnBoth('fleet-invitation-link');
  await pressInPrompt(
    made.getByRole('button', { name: 'Copy the link', exact: true }),
    made.getByText('Copied the link.', { exact: true }),
  );
  assert.equal(await landlord.page.evaluate(() => navigator.clipboard.readText()), link);
  await made.getByRole('button', { name: 'Done', exact: true }).click();
  await fleet.getByRole('status').getByText('The invitation is created.', { exact: true }).waitFor();
  const items = fleet.getByRole('list', { name: 'Invitations', exact: true }).getByRole('listitem');
  await items.getByRole('heading', { name: 'For newcomer', exact: true }).waitFor();
  for (const frame of landlord.page.frames())
    assert.ok(frame === landlord.page.mainFrame() || !(await frame.content()).includes('piv_'), 'no app has the link');

  const [, token = ''] = link.split('#invite=');
  await registerAccount(platform, 'newcomer', {}, token);
  await assert.rejects(registerAccount(platform, 'newcomer-too', {}, token), /not_authorized/);
  await create.click();
  const another = dialog('Create an invitation?');
  const secondLink = dialog('Invitation link');
  await pressInPrompt(another.getByRole('button', { name: 'Create link', exact: true }), secondLink);
  const [, second = ''] = (await secondLink.getByText(/#invite=piv_/).innerText()).split('#invite=');
  await secondLink.getByRole('button', { name: 'Done', exact: true }).click();
  await items.getByRole('heading', { name: 'For any name', exact: true }).waitFor();
  assert.equal(await items.count(), 1, 'the used one is gone');
  await lookOnBoth('fleet-invitations');
  await agrees(
    items.getByRole('button', { name: 'Withdraw … the invitation for any name', exact: true }),
    'Withdraw this invitation?',
    'Withdraw',
    'The invitation is withdrawn.',
  );
  await assert.rejects(registerAccount(platform, 'too-late', {}, second), /not_authorized/);
  await fleet.getByText('No invitations wait to be used.', { exact: true }).waitFor();

  await restart('closed');
  await fleet.getByText(/^Registration is closed, so nobody can be invited\./).waitFor();
  assert.equal(await create.count(), 0);
});

test('an ordinary account has no Fleet, and every route of it refuses the account', async () => {
  const { items } = await tenant.browser.take<{ items: { appId: string }[] }>('/v1/apps');
  assert.ok(!items.some(({ appId }) => appId === 'fleet'));
  assert.equal((await tenant.fetch('/v1/apps', { body: { appId: 'fleet' } })).status, 404);
  const operator = (path: string, body?: object, method = body === undefined ? 'GET' : 'POST') =>
    tenant.fetch(`/v1/operator/${path}`, body === undefined ? { method } : { method, body });
  const confirmation = await confirmed();
  const answers = [
    operator('invitations'),
    operator('invitations', {}),
    operator('invitations/inv-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203', undefined, 'DELETE'),
    operator('accounts/guest-01/suspend', {}),
    operator('accounts/guest-01/resume', {}),
    operator('accounts/guest-01/plan', { plan: 'paid' }, 'PUT'),
    operator('accounts/guest-01/delete', { name: 'guest-01', confirmation }),
  ];
  for (const answer of await Promise.all(answers))
    assert.deepEqual([answer.status, problemCode(answer)], [403, 'master_account_only'], answer.text);
});

async function confirmed() {
  const options = await tenant.browser.begin('/v1/auth/confirm/options', { operation: 'operator.account.delete' });
  return { challengeId: options.challengeId, credential: tenant.authenticator.get(options) };
}

test('without its grant Fleet says what is missing, and shows nobody', async () => {
  await turnTo('Accounts');
  const { page } = landlord;
  await page.evaluate(async () => {
    const headers = { 'content-type': 'application/json', 'platform-session': localStorage['platform.session'] };
    const body = JSON.stringify({ permissions: [] });
    await fetch('/v1/apps/fleet/permissions', { method: 'PUT', headers, body });
  });
  await page.reload();
  await fleet
    .getByRole('alert')
    .getByText(/system\.inventory\.read/)
    .waitFor();
  assert.equal(await rows().count(), 0);
  await turnTo('Invitations');
  await fleet
    .getByRole('alert')
    .getByText(/system\.inventory\.read/)
    .waitFor();
});
