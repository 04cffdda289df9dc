// What the platform gives to those who make apps is a package that it takes itself, with everything that its files name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AppKit } from '@platform/core';
import { buildSdk } from '@platform/sdk/build';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import type { InstalledTestApp } from '../../../../tests/support/installed-app.ts';
import { makeApp, makerApp, review } from '../../../core/test-support/made-apps.ts';
import { openAppKit } from './app-kit.ts';
import { KINDS } from './choose-project.ts';

let world: Constellation;
let person: TestAccount;
let maker: InstalledTestApp;
let appKit: AppKit;
before(async () => {
  await buildSdk();
  appKit = await openAppKit();
  world = await startConstellation({ appKit });
  person = await registerAccount(world, 'author');
  maker = await makerApp(world, person, 'writer');
});
after(() => world?.close());

const ADDED = {
  frontend: ['frontend/platform-errors.js', 'frontend/platform-sdk.js'],
  backend: ['workload/platform-sdk.mjs'],
  both: ['frontend/platform-errors.js', 'frontend/platform-sdk.js', 'workload/platform-sdk.mjs'],
} as const;

for (const kind of KINDS)
  test(`the template of kind ${kind} is taken as it is`, async () => {
    const files = appKit.templates.find((one) => one.kind === kind)?.files ?? {};
    const id = `from-${kind}`;
    const manifest = (files['manifest.json'] ?? '').replace('"my-app"', `"${id}"`);
    const draft = await makeApp(maker, id, { ...files, 'manifest.json': manifest });
    const shown = await review(person, draft.id);
    assert.deepEqual(
      shown.files.filter(({ ofPlatform }) => ofPlatform).map(({ path }) => path),
      ADDED[kind],
    );
    assert.deepEqual([shown.hasFrontend, shown.hasWorkload], [kind !== 'backend', kind !== 'frontend']);
    const page = files['frontend/index.html'];
    if (kind !== 'backend') assert.match(page ?? '', /<script src="platform-errors\.js">.*<script type="module"/s);
    assert.doesNotMatch(JSON.stringify(files), /APP_NAME|manifest\.schema/);
  });
