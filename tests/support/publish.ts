// Publishes small packages as a person does, over HTTP.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { planPackage } from '@platform/cli/packaging';
import type { Manifest } from '@platform/contract';
import { buildSdk } from '@platform/sdk/build';
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

const EXAMPLES = path.join(import.meta.dirname, '../../examples');

interface ExampleChanges {
  readonly example: string;
  /** Members of its manifest in place of its own. */
  readonly change: (manifest: Manifest) => object;
  /** Further files, by path in the package. */
  readonly more?: Readonly<Record<string, string>>;
}

/** An example under another id, with another manifest and more files. */
export async function publishExample(
  account: TestAccount,
  appId: string,
  { example, change, more = {} }: ExampleChanges,
): Promise<void> {
  const { manifest, files } = await planPackage({ folder: path.join(EXAMPLES, example), sdk: await buildSdk() });
  const contents: Record<string, Buffer | string> = { ...more };
  for (const { name, source } of files.filter(({ name }) => name !== 'manifest.json'))
    contents[name] = 'bytes' in source ? source.bytes : await readFile(source.path);
  await publishTestApp(account, appId, { ...manifest, ...change(manifest), id: appId }, contents);
}
