// An extension of a password manager replaces `navigator.credentials` in real Chromium, as public reports describe them: what it
// returns registers an account, and signs in.
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser, newPerson } from './browser.ts';

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

/** What the extension makes of the browser's own credential; in the page. */
type Kind = 'inherits toJSON' | 'plain' | 'nulls';

for (const kind of ['inherits toJSON', 'plain', 'nulls'] satisfies Kind[]) {
  test(`a manager whose credentials are of the kind "${kind}" registers and signs in`, async (t) => {
    const { page, context } = await newPerson(browser, DESKTOP);
    t.after(() => context.close());
    await page.addInitScript((of: Kind) => {
      const container = navigator.credentials;
      const replace = (name: 'create' | 'get') => {
        const original = container[name].bind(container) as (options: object) => Promise<PublicKeyCredential>;
        const replaced = async (options: object) => {
          const made = await original(options);
          const inner = made.response as AuthenticatorAttestationResponse & AuthenticatorAssertionResponse;
          const response = {
            clientDataJSON: inner.clientDataJSON,
            ...(name === 'create'
              ? { attestationObject: inner.attestationObject, getTransports: () => ['internal'] }
              : {
                  authenticatorData: inner.authenticatorData,
                  signature: inner.signature,
                  userHandle: inner.userHandle,
                }),
            ...(of === 'nulls' ? { getTransports: null, getPublicKey: () => null, getPublicKeyAlgorithm: null } : {}),
          };
          const members = {
            id: made.id,
            rawId: made.rawId,
            type: made.type,
            response,
            ...(of === 'nulls'
              ? { authenticatorAttachment: null, toJSON: null, getClientExtensionResults: () => null }
              : { getClientExtensionResults: () => ({}) }),
          };
          const prototype = of === 'inherits toJSON' ? PublicKeyCredential.prototype : Object.prototype;
          return Object.create(prototype, Object.getOwnPropertyDescriptors(members));
        };
        Object.defineProperty(container, name, { value: replaced });
      };
      replace('create');
      replace('get');
    }, kind);
    const name = `manager-${kind.replaceAll(' ', '-').toLowerCase()}`;
    await page.goto(platform.origin);
    await page.getByLabel('Account name').fill(name);
    await page.getByRole('button', { name: /^Create account/ }).click();
    await page.getByRole('button', { name: `Account ${name}` }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('button', { name: `Account ${name}` }).waitFor();
  });
}
