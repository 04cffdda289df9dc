// Secrets as a person meets them, in real Chromium against a whole platform: bound in the review of an installation, used by
// the app's backend that never sees them, listed in Settings, stale after an update, reviewed again, removed.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Secret } from '@platform/contract';
import type { Browser } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import { until } from '../support/wait.ts';
import { DEVICES, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const VALUE = 'canary-browser-secret-51f0c2';

/** Calls its slot over and over, and sends along all that it knows. */
const MAIN = `
  const { PLATFORM_API_URL, PLATFORM_GATEWAY_TOKEN, PORT } = process.env;
  process.getBuiltinModule('node:http').createServer((_, res) => res.end()).listen(PORT);
  const fs = process.getBuiltinModule('node:fs');
  for (;;) {
    const known = JSON.stringify(process.env) + fs.readFileSync('/proc/self/environ', 'latin1');
    const answer = await fetch(PLATFORM_API_URL + '/v1/services/outbound/tracker/issues', {
      method: 'POST', headers: { authorization: 'Bearer ' + PLATFORM_GATEWAY_TOKEN }, body: known,
    }).then((response) => response.status, (error) => error.name);
    console.log('tracker answered', answer);
    await new Promise((done) => setTimeout(done, 300));
  }
`;
const FILES = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': MAIN };

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let upstream: TlsUpstream;
let publisher: TestAccount;

before(async () => {
  upstream = await startTlsUpstream();
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_OUTBOUND_PRIVATE_ORIGINS: upstream.origin,
    PLATFORM_OUTBOUND_CA_FILE: upstream.caFile,
  });
  platform = await startPlatform(place);
  browser = await launchBrowser();
  publisher = await registerAccount(platform, 'publisher');
  for (const [version, methods] of [
    ['1.0.0', ['GET', 'POST']],
    ['2.0.0', ['GET', 'POST', 'DELETE']],
  ] as const)
    await publishTestApp(publisher, 'issues', manifest(version, methods), FILES);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await upstream?.close();
  await place?.remove();
});

function manifest(version: string, methods: readonly string[]) {
  return {
    version,
    name: 'Issues',
    summary: 'What is to be done.',
    workload: { runtime: 'node', entry: 'main.mjs', mode: 'always' },
    permissions: [
      { id: 'secrets.use', resources: ['tracker'], reason: 'Signs in to your tracker.' },
      { id: 'network.connect', resources: [upstream.origin], reason: 'Reads and files issues.' },
    ],
    secretSlots: [{ name: 'tracker', origin: upstream.origin, pathPrefix: '/api', methods }],
  };
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} a secret is chosen, used unseen, reviewed again and removed`, async (t) => {
    const account = await registerAccount(platform, `${device}-user`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const secrets = async () => (await account.browser.take<{ items: Secret[] }>('/v1/account/secrets')).items;

    await page.goto(`${platform.origin}/#/settings/secrets`);
    await page.getByText('No secrets yet').waitFor();
    await look(page, device, 'secrets-empty');

    // The review of the newest version; adding the secret in it.
    await page.goto(`${platform.origin}/#/app/store`);
    const store = page.frameLocator('iframe[title="Store"]');
    await store.getByRole('button', { name: 'Install Issues' }).click();
    const review = page.getByRole('dialog', { name: 'Install Issues?' });
    const heading = review.getByRole('heading', { name: 'Secrets it can use without seeing them' });
    await heading.waitFor();
    const choice = review.getByLabel(`Which secret may go to ${new URL(upstream.origin).host}?`);
    assert.equal(await choice.inputValue(), '', 'nothing is chosen beforehand');
    await look(page, device, 'secrets-review', [heading]);
    await choice.selectOption({ label: 'Add a secret …' });
    await review.getByLabel('Name', { exact: true }).fill('Tracker Token');
    await review.getByLabel('Key or token').fill(VALUE);
    await look(page, device, 'secrets-review-add', [choice]);
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      page.getByRole('heading', { name: 'Issues is installed' }),
    );
    await page.getByRole('button', { name: 'Done' }).click();

    // Its backend reaches the service with it, and knows nothing.
    upstream.arrived.length = 0;
    const call = await until('the backend to call its slot', () => upstream.arrived.at(-1));
    assert.equal(call.target, '/api/issues');
    assert.ok(call.rawHeaders.includes(`Bearer ${VALUE}`));
    assert.ok(call.body.includes('PLATFORM_GATEWAY_TOKEN'), 'it sent what it knows');
    assert.ok(!call.body.includes(VALUE), 'which the secret is not part of');

    await page.goto(`${platform.origin}/#/settings/secrets`);
    await page.getByText('tracker-token', { exact: true }).waitFor();
    await page.getByText('Used by Issues').waitFor();
    await page.getByText('last used').waitFor();
    await look(page, device, 'secrets-list');
    await page.getByRole('button', { name: 'Replace tracker-token' }).click();
    await page.getByLabel('Key or token').fill(`${VALUE}-2`);
    await look(page, device, 'secrets-replace');
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByRole('button', { name: 'Replace', exact: true }).waitFor({ state: 'detached' });
    await until('the new value to be used', () =>
      upstream.arrived.at(-1)?.rawHeaders.includes(`Bearer ${VALUE}-2`) === true ? true : undefined,
    );

    // Another declaration: an older version here, since it asks for less.
    await account.browser.take('/v1/apps/issues/upgrade', { body: { version: '1.0.0' } });
    await page.goto(`${platform.origin}/#/settings/apps/issues`);
    await page.reload();
    await page.getByText('An update changed this').waitFor();
    await page.getByText('It no longer uses DELETE').waitFor();
    const section = page.getByRole('heading', { name: 'Secrets', exact: true });
    await look(page, device, 'secrets-stale', [section]);
    await page.getByRole('button', { name: 'Allow this' }).click();
    await page.getByText('Uses your secret').waitFor();
    await look(page, device, 'secrets-bound', [section]);
    upstream.arrived.length = 0;
    await until('calls to pass again', () => upstream.arrived.at(-1));
    await page.getByRole('button', { name: 'Update to 2.0.0' }).click();
    const update = page.getByRole('dialog', { name: 'Update Issues?' });
    await update.getByText('Your secret tracker-token is not sent after the update').waitFor();
    await look(page, device, 'secrets-update');
    await pressInPrompt(update.getByRole('button', { name: 'Keep this version' }), noDialog(page));
    await page.getByRole('button', { name: 'Stop using it' }).click();
    await page.getByText('No secret chosen. The platform refuses calls to it.').waitFor();
    await page.getByRole('button', { name: 'Choose a secret' }).click();
    await page.getByLabel(/Which secret may go to/).selectOption('tracker-token');
    await page.getByText('How it is sent').click();
    await page.getByLabel('Sent as').selectOption('query');
    await page.getByLabel('Parameter').fill('api_key');
    await look(page, device, 'secrets-choose', [section]);
    await page.getByRole('button', { name: 'Save', exact: true }).last().click();
    await page.getByText('Uses your secret').waitFor();
    await until('the secret to be in the query', () =>
      upstream.arrived.at(-1)?.target === `/api/issues?api_key=${VALUE}-2` ? true : undefined,
    );

    // Removing the secret ends its use; adding and removing one by hand.
    await page.goto(`${platform.origin}/#/settings/secrets`);
    await page.getByRole('button', { name: 'Remove tracker-token' }).click();
    await page.getByText('Issues can no longer use it').waitFor();
    await look(page, device, 'secrets-remove');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('No secrets yet').waitFor();
    await page.getByRole('button', { name: 'Add a secret' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Give the new secret a name.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Spare');
    await page.getByLabel('Key or token').fill('another');
    await look(page, device, 'secrets-add');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('spare', { exact: true }).waitFor();
    assert.deepEqual(
      (await secrets()).map(({ name, bindings }) => [name, bindings.length]),
      [['spare', 0]],
    );
    assert.ok(!(await page.content()).includes(VALUE));
    await account.fetch('/v1/apps/issues', { method: 'DELETE' });
  });
}

test('the secret is in no log, and no part of the platform has it in its environment', async () => {
  assert.ok(!platform.output().includes(VALUE));
  const environ = await readFile(`/proc/${platform.pid}/environ`, 'latin1');
  assert.ok(!environ.includes(VALUE));
});
