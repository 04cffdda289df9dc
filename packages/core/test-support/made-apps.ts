// Apps that apps make, for tests: their files, the app that hands them in, and what their person does.
import { strict as assert } from 'node:assert';
import type { Draft, DraftReview, Grant, MadeDraft } from '@platform/contract';
import type { TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../tests/support/installed-app.ts';
import { testManifest } from '../../../tests/support/packages.ts';
import type { RawAnswer } from '../../../tests/support/raw-http.ts';

export const MAKES: Grant = { id: 'apps.create', resources: ['*'] };
export const DRAFTS = '/v1/account/drafts';

type Files = Readonly<Record<string, string>>;

/** @param manifest members that go over those of an app with a frontend and nothing else */
export function appFiles(appId: string, manifest: Readonly<Record<string, unknown>> = {}, more: Files = {}): Files {
  return {
    'manifest.json': JSON.stringify(testManifest(appId, manifest), null, 2),
    'frontend/index.html': `<!doctype html><title>${appId}</title>\n`,
    ...more,
  };
}

/** An app with the permission to make others. */
export function makerApp(
  world: Constellation,
  account: TestAccount,
  appId: string,
  grants: readonly Grant[] = [MAKES],
): Promise<InstalledTestApp> {
  return installTestApp(world, account, appId, grants);
}

export function handIn(maker: Pick<InstalledTestApp, 'call'>, appId: string, files: Files): Promise<RawAnswer> {
  return maker.call('/v1/services/apps', { body: { appId, files } });
}

export async function makeApp(
  maker: Pick<InstalledTestApp, 'call'>,
  appId: string,
  files: Files = appFiles(appId),
): Promise<MadeDraft> {
  const answer = await handIn(maker, appId, files);
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { draft: MadeDraft }).draft;
}

export async function waiting(account: TestAccount): Promise<readonly Draft[]> {
  return (await account.browser.take<{ items: Draft[] }>(DRAFTS)).items;
}

export function review(account: TestAccount, id: string): Promise<DraftReview> {
  return account.browser.take<DraftReview>(`${DRAFTS}/${id}`);
}

export function accept(account: TestAccount, id: string, body: unknown): Promise<RawAnswer> {
  return account.fetch(`${DRAFTS}/${id}/accept`, { body });
}
