// Packs the SDK for projects outside of this repository: plain JavaScript with declarations, without dependencies but optional ones.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { writeDeclarations } from './declarations.ts';

export { writeDeclarations } from './declarations.ts';

const root = path.join(import.meta.dirname, '..');
const ENTRIES = ['workload', 'browser'] as const;

/** Makes the package of what {@link stageSdk} wrote. */
export async function packStaged(stage: string, folder: string): Promise<void> {
  await promisify(execFile)('npm', ['pack', stage, '--offline', '--pack-destination', folder], { cwd: folder });
}

/** Writes what the package holds. */
export async function stageSdk(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeDeclarations(path.join(folder, 'types'), ENTRIES);
  await bundleSdk(path.join(folder, 'dist'));
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
  await copyFile(path.join(root, 'README.md'), path.join(folder, 'README.md'));
}

/** Its modules: readable, for stack traces and debuggers; bundlers minify them too. */
export async function bundleSdk(outDir: string): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      target: 'es2022',
      outDir,
      emptyOutDir: false,
      minify: false,
      lib: {
        entry: Object.fromEntries(ENTRIES.map((name) => [name, path.join(root, 'src', `${name}.ts`)])),
        formats: ['es'],
      },
      rolldownOptions: { output: { entryFileNames: '[name].js', chunkFileNames: 'shared.js' } },
    },
  });
}

async function manifest(): Promise<Readonly<Record<string, unknown>>> {
  const { name, version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  return {
    name,
    version,
    description: 'Client of the platform’s services for backends and pages of its apps.',
    license: 'Apache-2.0',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.4' },
    exports: {
      '.': { types: './types/workload.d.ts', default: './dist/workload.js' },
      './browser': { types: './types/browser.d.ts', default: './dist/browser.js' },
      './package.json': './package.json',
    },
    files: ['dist', 'types'],
    // Whoever uses or serves tools gives them to the SDK, which imports neither.
    peerDependencies: {
      '@modelcontextprotocol/client': '^2.4.0',
      '@modelcontextprotocol/server': '^2.4.0',
    },
    peerDependenciesMeta: {
      '@modelcontextprotocol/client': { optional: true },
      '@modelcontextprotocol/server': { optional: true },
    },
  };
}
