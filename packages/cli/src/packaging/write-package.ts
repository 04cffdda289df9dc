// Writes a planned package as a gzip tar. The same files give the same bytes: order, times, owners and modes are fixed.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { limits, PACKAGE_COMPRESSION, packageEntry, sizeText } from '@platform/contract';
import { type Pack, pack } from 'tar-stream';
import { PackageProblem } from './package-problem.ts';
import type { PackageFile, PackagePlan } from './plan-package.ts';

export interface WrittenPackage {
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, hexadecimal: the name of the package in the catalog's store. */
  readonly hash: string;
}

/**
 * @param path where the package goes; it is there whole or not at all
 * @throws {PackageProblem} when the result is too large, or a file changed while it was read
 */
export async function writePackage(plan: PackagePlan, path: string): Promise<WrittenPackage> {
  const unfinished = `${path}.${process.pid}.part`;
  const hash = createHash('sha256');
  const counted = { size: 0 };
  const archive = pack();
  try {
    const written = pipeline(
      archive,
      createGzip(PACKAGE_COMPRESSION),
      measure(hash, counted),
      createWriteStream(unfinished),
    );
    await Promise.all([written, fill(archive, plan.files)]);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return { path, size: counted.size, hash: hash.digest('hex') };
}

/** Never rejects: a failure destroys the archive with its reason, which ends the pipeline that reads it. */
async function fill(archive: Pack, files: readonly PackageFile[]): Promise<void> {
  try {
    for (const file of files) await add(archive, file);
    archive.finalize();
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

async function add(archive: Pack, { name, size, source }: PackageFile): Promise<void> {
  const entry = archive.entry(packageEntry(name, size));
  if ('bytes' in source) {
    entry.end(source.bytes);
    return;
  }
  // One byte more than planned is read, so that a file that grew is noticed and not cut.
  await pipeline(createReadStream(source.path, { end: size }), exactly(size, name), entry);
}

/** Lets through what has the planned size, and stops before the archive would hold anything else. */
function exactly(size: number, name: string) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const changed = new PackageProblem([`${name} changed during packing. Try again.`]);
    let read = 0;
    for await (const chunk of chunks) {
      read += chunk.length;
      if (read > size) throw changed;
      yield chunk;
    }
    if (read < size) throw changed;
  };
}

function measure(hash: Hash, counted: { size: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      counted.size += chunk.length;
      if (counted.size <= limits.packagePacked.value) done(null, chunk);
      else done(new PackageProblem([`The package is larger than ${sizeText(limits.packagePacked.value)}.`]));
    },
  });
}
