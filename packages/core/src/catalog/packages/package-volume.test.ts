// Promises about volume: what is too much stops while it streams, wherever the too much is.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import { limits, RefusalError } from '@platform/contract';
import { tarOf } from '../../../test-support/vector-archives.ts';
import { verifyPackage } from './verify-package.ts';

const MiB = 1024 * 1024;

/** An upload that never ends by itself: a gzip member with one file, `piece` again and again. */
function endless(piece: Buffer, declaredSize: number) {
  const pulled = { bytes: 0 };
  const [header] = tarOf([{ name: 'frontend/big', type: 'file', declaredSize }]);
  // A full flush ends on a byte and forgets what was before, so compressed pieces can be repeated.
  const deflated = (bytes: Buffer) => deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH, level: 9 });
  function* upload(): Generator<Buffer> {
    const again = deflated(piece);
    for (const part of [Buffer.from('1f8b0800000000000003', 'hex'), deflated(header ?? Buffer.alloc(0))]) yield part;
    for (;;) {
      pulled.bytes += again.length;
      yield again;
    }
  }
  return { source: Readable.from(upload()), pulled };
}

async function refusalOf(t: TestContext, source: Readable) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'platform-packages-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const scratch = { blob: path.join(folder, 'package.tgz'), unpacked: path.join(folder, 'unpacked') };
  const outcome = await verifyPackage(source, scratch, { system: false }).catch((error: unknown) => error);
  assert.ok(outcome instanceof RefusalError, String(outcome));
  const big = path.join(scratch.unpacked, 'frontend/big');
  return {
    ...outcome.refusal,
    packedOnDisk: fs.statSync(scratch.blob).size,
    unpackedOnDisk: fs.existsSync(big) ? fs.statSync(big).size : 0,
  };
}

test('zeros without end stop at the ratio, with as little on the disk', async (t) => {
  const { source, pulled } = endless(Buffer.alloc(MiB), 2 ** 31);
  const refused = await refusalOf(t, source);
  assert.match(refused.detail ?? '', /times its size/);
  assert.equal(refused.code, 'invalid_request');
  assert.ok(refused.unpackedOnDisk <= 66 * MiB, `${refused.unpackedOnDisk} bytes unpacked`);
  assert.ok(pulled.bytes < MiB, `${pulled.bytes} bytes read`);
});

test('a package that unpacks to more than 2 GiB stops there', async (t) => {
  // Compresses some 100 times: not yet suspicious.
  const piece = Buffer.concat([randomBytes(MiB / 128), Buffer.alloc(MiB - MiB / 128)]);
  const { source } = endless(piece, 2 ** 32);
  const refused = await refusalOf(t, source);
  assert.match(refused.detail ?? '', /unpacks to more than/);
  assert.ok(refused.unpackedOnDisk <= limits.packageUnpacked.value);
});

test('an upload of more than 512 MiB is refused as too large, without reading on', async (t) => {
  const { source, pulled } = endless(randomBytes(MiB), 2 ** 31);
  const refused = await refusalOf(t, source);
  assert.equal(refused.code, 'payload_too_large');
  assert.ok(refused.packedOnDisk <= limits.packagePacked.value);
  assert.ok(pulled.bytes <= limits.packagePacked.value + 20 * MiB, 'no more than the stream read ahead');
  assert.equal(source.destroyed, false, 'the refusal can still be answered');
});
