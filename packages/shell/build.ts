// Builds everything that runs in a browser: the shell here, the system apps through scripts/build-apps.ts.
// Run as a program under Node 24; fails when the shell's first load grows beyond its budget.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';

/** Script that the first screen waits for, gzip, in bytes. */
const FIRST_LOAD_BUDGET = 60_000;
/** Script that a push message or a navigation starts, gzip, in bytes. */
const WORKER_BUDGET = 32_000;

type Output = Rolldown.RolldownOutput['output'];

export interface ShellSizes {
  /** Gzip bytes. */
  readonly firstLoadScript: number;
  readonly laterScript: number;
  readonly style: number;
  readonly worker: number;
}

function gzipSize(content: string | Uint8Array): number {
  return gzipSync(content, { level: 9 }).length;
}

function measure(output: Output): Omit<ShellSizes, 'worker'> {
  const chunks = output.filter((part) => part.type === 'chunk');
  const first = new Set(chunks.filter((chunk) => chunk.isEntry).map(({ fileName }) => fileName));
  for (const fileName of first) {
    for (const imported of chunks.find((chunk) => chunk.fileName === fileName)?.imports ?? []) first.add(imported);
  }
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
  const scripts = (isFirst: boolean) =>
    sum(chunks.filter(({ fileName }) => first.has(fileName) === isFirst).map(({ code }) => gzipSize(code)));
  const styles = output.filter((part) => part.type === 'asset' && part.fileName.endsWith('.css'));
  return {
    firstLoadScript: scripts(true),
    laterScript: scripts(false),
    style: sum(styles.map((part) => (part.type === 'asset' ? gzipSize(part.source) : 0))),
  };
}

async function buildOutput(config: string): Promise<Output> {
  const built = await build({ configFile: join(import.meta.dirname, config), logLevel: 'warn' });
  if (!('output' in built)) throw new Error(`Vite built something other than one output of ${config}.`);
  return built.output;
}

async function buildWorker(): Promise<number> {
  const [script, ...more] = await buildOutput('vite.worker.config.ts');
  if (more.length > 0) throw new Error('The service worker is more than one file, which not every browser takes.');
  const size = gzipSize(script.code);
  if (size <= WORKER_BUDGET) return size;
  throw new Error(`The service worker is ${size} bytes of gzip script, more than ${WORKER_BUDGET}.`);
}

/** Writes each file of `folder` once more in both codings that browsers take, so that no start has to. */
function compressAll(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const content = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

/**
 * Builds the shell into `packages/shell/dist`.
 * @throws Error when the script of the first load is larger than 60 kB gzip, or that of the service worker than 32 kB
 */
export async function buildShell(): Promise<ShellSizes> {
  const sizes = { ...measure(await buildOutput('vite.config.ts')), worker: await buildWorker() };
  if (sizes.firstLoadScript > FIRST_LOAD_BUDGET) {
    throw new Error(
      `The shell's first load is ${sizes.firstLoadScript} bytes of gzip script, more than ${FIRST_LOAD_BUDGET}. ` +
        'Load what the first screen does not need with import(), or leave a dependency out.',
    );
  }
  compressAll(join(import.meta.dirname, 'dist'));
  return sizes;
}

async function buildApps(): Promise<void> {
  const file = join(import.meta.dirname, '../../scripts/build-apps.ts');
  if (!existsSync(file)) return;
  const module: unknown = await import(pathToFileURL(file).href);
  if (typeof module !== 'object' || module === null || !('buildApps' in module)) {
    throw new Error('scripts/build-apps.ts exports no function buildApps().');
  }
  const { buildApps: run } = module;
  if (typeof run !== 'function') throw new Error('buildApps of scripts/build-apps.ts is not a function.');
  await run();
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** Builds the shell and the system apps, and prints what the browser has to load. */
export async function buildEverything(): Promise<void> {
  const sizes = await buildShell();
  const budget = kilobytes(FIRST_LOAD_BUDGET);
  console.log(
    `shell: ${kilobytes(sizes.firstLoadScript)} script at first load (budget ${budget}), ` +
      `${kilobytes(sizes.laterScript)} later, ${kilobytes(sizes.style)} style, ${kilobytes(sizes.worker)} service worker (gzip)`,
  );
  await buildApps();
}

if (import.meta.main) await buildEverything();
