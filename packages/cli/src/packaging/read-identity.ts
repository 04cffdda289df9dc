// The identity of a finished package: id and version out of its manifest, which is looked for from the front.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { limits } from '@platform/contract';
import { extract } from 'tar-stream';
import * as z from 'zod';
import { PackageProblem } from './package-problem.ts';

const identity = z.object({ id: z.string(), version: z.string() });
export type PackageIdentity = z.infer<typeof identity>;

/** @throws {PackageProblem} when the file is not a package */
export async function readIdentity(path: string): Promise<PackageIdentity> {
  const archive = extract();
  // Left early on purpose, which the pipeline reports; a fault of the file reaches the loop below.
  pipeline(createReadStream(path), createGunzip(), archive, () => {});
  try {
    for await (const entry of archive) {
      if (entry.header.name.replace(/^\.\//, '') !== 'manifest.json') {
        entry.resume();
        continue;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of entry) {
        size += (chunk as Buffer).length;
        if (size > limits.manifestSize.value) break;
        chunks.push(chunk as Buffer);
      }
      const result = identity.safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      if (result.success) return result.data;
      break;
    }
  } catch (error) {
    throw new PackageProblem([
      `${path} cannot be read as a package: ${error instanceof Error ? error.message : error}.`,
    ]);
  }
  throw new PackageProblem([`${path} has no manifest.json with an id and a version.`]);
}
