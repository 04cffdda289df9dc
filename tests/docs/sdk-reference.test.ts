// docs/sdk is what the generator makes of the SDK as it is.
import { strict as assert } from 'node:assert';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { writeReference } from '../../scripts/sdk-reference/write.ts';

const COMMITTED = path.join(import.meta.dirname, '../../docs/sdk');

test('the reference of the SDK is current; `npm run sdk-reference` writes it', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reference-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const written = path.join(folder, 'sdk');
  await writeReference(written);
  const names = (await readdir(written)).sort();
  assert.deepEqual((await readdir(COMMITTED)).sort(), names);
  for (const name of names) {
    const [now, committed] = await Promise.all([written, COMMITTED].map((at) => readFile(path.join(at, name), 'utf8')));
    assert.equal(committed, now, name);
  }
});
