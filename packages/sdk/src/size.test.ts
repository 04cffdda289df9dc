// The browser entry stays small: it is loaded with every app, before anything else.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildSdk } from '../build.ts';

test('the browser entry is one module without imports, under 12 kB gzip', async () => {
  const code = await readFile((await buildSdk()).browser);
  assert.ok(gzipSync(code).length < 12_000, `${gzipSync(code).length} bytes`);
  assert.doesNotMatch(code.toString(), /\bimport\b\s*[\w{*"'(]/);
});

test('the workload entry is one module without imports', async () => {
  const { workload } = await buildSdk();
  assert.doesNotMatch(await readFile(workload, 'utf8'), /\bimport\b\s*[\w{*"'(]/);
  const { PlatformServicesClient } = await import(workload);
  assert.equal(typeof PlatformServicesClient.fromEnv, 'function');
});
