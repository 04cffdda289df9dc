// Builds small app packages in memory, for tests that publish and install.
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import tar from 'tar-stream';

export interface TestPackage {
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Path in the package (`frontend/index.html`, `workload/main.js`) to contents. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
}

/** The same package has the same bytes whenever it is built. */
const EPOCH = new Date(0);

/** A manifest with a frontend and nothing else, to spread over. */
export function testManifest(id: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    schemaVersion: 9,
    id,
    version: '1.0.0',
    name: id,
    summary: `The test app ${id}.`,
    frontend: { entry: 'index.html' },
    permissions: [],
    ...more,
  };
}

export async function buildTestPackage({
  manifest,
  files = { 'frontend/index.html': '<!doctype html><title>t</title>' },
}: TestPackage): Promise<Buffer> {
  const pack = tar.pack();
  pack.entry({ name: 'manifest.json', mtime: EPOCH }, JSON.stringify(manifest));
  for (const [name, content] of Object.entries(files)) pack.entry({ name, mtime: EPOCH }, content);
  pack.finalize();
  return buffer(pack.pipe(createGzip()));
}
