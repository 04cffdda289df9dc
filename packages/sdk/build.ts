// Builds the SDK's two single files: dist/browser.js for frontends and dist/workload.js for workloads.
// Run directly it builds and prints the sizes; others call `buildSdk`, which does nothing while the sources are the same.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import vite from 'vite/package.json' with { type: 'json' };

const root = import.meta.dirname;
const dist = join(root, 'dist');

export interface SdkFiles {
  /** Path of the ES module that a frontend imports. */
  readonly browser: string;
  /** Path of the ES module that a workload imports. */
  readonly workload: string;
}

/** Where they are once they are built. */
export const SDK_FILES: SdkFiles = { browser: join(dist, 'browser.js'), workload: join(dist, 'workload.js') };

/** The script that the platform adds to apps that apps make; as it is, so that people can read it. */
export const PAGE_ERRORS = join(root, 'page-errors.js');

export async function buildSdk(): Promise<SdkFiles> {
  const files = SDK_FILES;
  const stamp = await sourceHash();
  if ((await readFile(join(dist, 'stamp'), 'utf8').catch(() => '')) === stamp) return files;
  await mkdir(dist, { recursive: true });
  await bundle('browser');
  await bundle('workload');
  await replaceFile(join(dist, 'stamp'), stamp);
  return files;
}

async function bundle(name: 'browser' | 'workload'): Promise<void> {
  // Loaded here, because the command line imports this file and mostly finds nothing to build.
  const { build } = await import('vite');
  const output = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      target: 'es2024',
      write: false,
      minify: true,
      lib: { entry: join(root, 'src', `${name}.ts`), formats: ['es'], fileName: name },
    },
  });
  const [chunk] = (Array.isArray(output) ? output : [output]).flatMap((part) => ('output' in part ? part.output : []));
  if (chunk?.type !== 'chunk') throw new Error(`The bundler made no module of ${name}.ts.`);
  await replaceFile(join(dist, `${name}.js`), chunk.code);
}

/** By rename, because another process may build or read at the same time. */
async function replaceFile(path: string, content: string): Promise<void> {
  const fresh = `${path}.${process.pid}.tmp`;
  await writeFile(fresh, content);
  await rename(fresh, path);
}

async function sourceHash(): Promise<string> {
  const hash = createHash('sha256').update(vite.version);
  const sources = (await readdir(join(root, 'src'))).filter((name) => /(?<!\.test)\.ts$/.test(name)).sort();
  const shared = import.meta.resolve('@platform/contract/event-text');
  const code = [import.meta.url, shared].map((url) => fileURLToPath(url));
  for (const path of [...code, ...sources.map((name) => join(root, 'src', name))]) {
    hash.update(await readFile(path));
  }
  return hash.digest('hex');
}

if (import.meta.main) {
  for (const [name, path] of Object.entries(await buildSdk())) {
    const code = await readFile(path);
    console.log(`${name}: ${code.length} bytes, ${gzipSync(code).length} gzip`);
  }
}
