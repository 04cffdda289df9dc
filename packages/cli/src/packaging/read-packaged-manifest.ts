// The manifest of a finished package, which is looked for from the front and checked as that of a folder is.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { limits, type Manifest } from '@platform/contract';
import { extract } from 'tar-stream';
import { PackageProblem } from './package-problem.ts';
import { checkManifest } from './read-manifest.ts';

/** @throws {PackageProblem} when the file is not a package, with every fault of its manifest */
export async function readPackagedManifest(path: string): Promise<Manifest> {
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
      return checkManifest(Buffer.concat(chunks)).manifest;
    }
  } catch (error) {
    if (error instanceof PackageProblem) throw error;
    throw new PackageProblem([
      `${path} cannot be read as a package: ${error instanceof Error ? error.message : error}.`,
    ]);
  }
  throw new PackageProblem([`${path} has no manifest.json.`]);
}
