// Promises of checking packages in threads: the outcome is that of verify-package.ts, the upload is read no faster than it
// is checked, and a check that takes too long is refused.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { makeClusterFolder } from '../../../../../tests/support/postgres.ts';
import { archiveOf } from '../../../test-support/vector-archives.ts';
import { CheckPool } from './check-pool.ts';
import { type PackageScratch, verifyPackage } from './verify-package.ts';

const EXPECTED = { system: false };
const MANIFEST = {
  schemaVersion: 9,
  id: 'checked-app',
  version: '1.0.0',
  name: 'Checked',
  summary: 'Checked in a thread.',
  frontend: { entry: 'index.html' },
};

const folder = makeClusterFolder('checks-');
const pool = new CheckPool();
after(async () => {
  await pool.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

let scratches = 0;
function newScratch(): PackageScratch {
  scratches += 1;
  const own = path.join(folder, String(scratches));
  fs.mkdirSync(own);
  return { blob: path.join(own, 'package.tgz'), unpacked: path.join(own, 'unpacked') };
}

async function upload(manifest: object = MANIFEST): Promise<Buffer> {
  const files = { 'manifest.json': JSON.stringify(manifest), 'frontend/index.html': '<p>hi</p>'.repeat(10_000) };
  return archiveOf({ entries: Object.entries(files).map(([name, content]) => ({ name, type: 'file', content })) });
}

function pieces(bytes: Buffer, size = 100): Readable {
  return Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)),
  );
}

async function outcomeOf(check: Promise<unknown>): Promise<unknown> {
  return check.catch((error: unknown) => (error instanceof RefusalError ? error.refusal : error));
}

test('a package, and a faulty one, have the same outcome in a thread as here', async () => {
  for (const bytes of [await upload(), await upload({ ...MANIFEST, id: 'NOT AN ID' }), Buffer.from('no archive')]) {
    const [there, here] = [newScratch(), newScratch()];
    const inThread = await outcomeOf(pool.verify(pieces(bytes), there, EXPECTED));
    assert.deepEqual(inThread, await outcomeOf(verifyPackage(pieces(bytes), here, EXPECTED)));
    const files = (scratch: PackageScratch) => fs.readdirSync(path.dirname(scratch.blob), { recursive: true });
    assert.deepEqual(files(there).sort(), files(here).sort());
  }
});

test('an upload that breaks fails with the same error as without threads', async () => {
  const bytes = await upload();
  async function* broken(): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, 50);
    throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
  }
  await assert.rejects(pool.verify(Readable.from(broken()), newScratch(), EXPECTED), { code: 'ECONNRESET' });
});

test('a refused upload is not destroyed, and not read on', async () => {
  const source = pieces(Buffer.concat([Buffer.alloc(1_000), await upload()]));
  await assert.rejects(pool.verify(source, newScratch(), EXPECTED), RefusalError);
  assert.equal(source.destroyed, false);
  assert.equal(source.readableEnded, false);
});

test('a check that takes too long is refused', async () => {
  const impossible = new CheckPool({ milliseconds: 1 });
  const refused = await outcomeOf(impossible.verify(pieces(await upload(), 10), newScratch(), EXPECTED));
  assert.deepEqual(refused, {
    code: 'unavailable',
    detail: 'The package could not be checked: it took longer than 0.001 s.',
  });
  await impossible.stop();
});
