// Publishes small packages as a person does, over HTTP.
import { strict as assert } from 'node:assert';
import type { TestAccount } from './client.ts';
import { buildTestPackage, testManifest } from './packages.ts';

/**
 * A version of an app, 1.0.0 unless the manifest says another, in the account's name.
 * @param manifest members besides those of `testManifest`
 */
export async function publishTestApp(
  account: TestAccount,
  appId: string,
  manifest: Readonly<Record<string, unknown>>,
  files?: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  const whole = testManifest(appId, manifest);
  const answer = await account.fetch(`/v1/catalog/${appId}/versions/${whole.version}`, {
    method: 'PUT',
    body: await buildTestPackage({ manifest: whole, ...(files !== undefined && { files }) }),
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(answer.status, 201, answer.text);
}
