// Builds what comes with the platform into packages: the system apps, and the examples for the Store.
// What did not change is not built again. How the versions come about: docs/decisions/system-apps.md.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type PackagePlan, type PlanOptions, planPackage, writePackage } from '@platform/cli/packaging';
import type { Manifest } from '@platform/contract';
import { buildSdk } from '@platform/sdk/build';
import { makeSdk } from '@platform/sdk/made-once';

const root = join(import.meta.dirname, '..');
const apps = join(root, 'apps');
/** Changes in these change every system app. */
const SHARED_INPUTS = [
  'scripts/build-apps.ts',
  'apps/shared',
  'packages/sdk/src',
  'packages/shell/src/apps/arrange.ts',
  'packages/shell/src/design/letter.ts',
  'packages/shell/src/design/qr-code.tsx',
  'packages/shell/src/design/sparkline.css',
  'packages/shell/src/design/sparkline.tsx',
  'packages/shell/src/design/stopped-words.ts',
  'packages/shell/src/design/tokens.css',
  'packages/shell/src/design/visible-text.ts',
  'packages/shell/src/design/words.ts',
  'packages/shell/src/desk/tools/proposal-words.ts',
  'packages/cli/src/packaging',
  'package-lock.json',
];
const VERSION_DIGITS = 12;

export interface BuiltApp {
  readonly id: string;
  readonly version: string;
  readonly path: string;
}

/** Builds each package whose sources changed since it was made: `apps/<id>/dist/`, the examples in `apps/examples/dist/`. */
export async function buildApps(): Promise<BuiltApp[]> {
  // For `platform init`, also of users who may not write in this checkout.
  await makeSdk();
  const shared = await hashOf(SHARED_INPUTS.map((path) => join(root, path)));
  const built: BuiltApp[] = [];
  for (const folder of await packageFolders(apps)) {
    built.push(await unlessBuilt({ folder, dist: join(folder, 'dist'), shared, plan: bundled }));
  }
  const examples = join(apps, 'examples', 'dist');
  for (const folder of await packageFolders(join(root, 'examples'))) {
    if (await needsImage(folder)) continue;
    const plan = async () => ({ folder, sdk: await buildSdk() });
    built.push(await unlessBuilt({ folder, dist: join(examples, basename(folder)), shared, plan }));
  }
  return built;
}

async function packageFolders(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && existsSync(join(parent, entry.name, 'manifest.json')))
    .map((entry) => join(parent, entry.name))
    .sort();
}

/** Its backend is a container image, which only a container engine can build. */
async function needsImage(folder: string): Promise<boolean> {
  const { workload } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Partial<Manifest>;
  return workload?.runtime === 'oci';
}

interface Building {
  readonly folder: string;
  readonly dist: string;
  readonly shared: string;
  /** Makes the folder ready and says what is packed. */
  readonly plan: (folder: string, dist: string) => Promise<PlanOptions>;
}

async function unlessBuilt({ folder, dist, shared, plan }: Building): Promise<BuiltApp> {
  const inputs = ['manifest.json', 'package.json', 'frontend', 'workload']
    .map((name) => join(folder, name))
    .filter(existsSync);
  const stamp = await hashOf(inputs, shared);
  const known = await readFile(join(dist, 'built.json'), 'utf8').catch(() => '{}');
  const former = JSON.parse(known) as Partial<BuiltApp & { stamp: string }>;
  if (former.stamp === stamp && former.id && former.version && former.path && existsSync(join(dist, former.path))) {
    return { id: former.id, version: former.version, path: join(dist, former.path) };
  }
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const options = await plan(folder, dist);
  const { manifest, files } = await planPackage(options);
  const version = `${manifest.version}+${(await contentHash(files)).slice(0, VERSION_DIGITS)}`;
  const file = `${manifest.id}-${version}.tgz`;
  await writePackage(await planPackage({ ...options, change: { version } }), join(dist, file));
  await writeFile(join(dist, 'built.json'), JSON.stringify({ stamp, id: manifest.id, version, path: file }));
  return { id: manifest.id, version, path: join(dist, file) };
}

/** A system app is bundled first: its page, the SDK and what the apps share become a few files. */
async function bundled(folder: string, dist: string): Promise<PlanOptions> {
  const content = join(dist, 'package');
  const page = join(folder, 'frontend', 'index.html');
  const html = await pageOf(folder);
  // Loaded here, because a start that has nothing to build should not wait for the bundler.
  const { build } = await import('vite');
  await build({
    root: join(folder, 'frontend'),
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [
      { name: 'page', resolveId: (id) => (id === page ? id : null), load: (id) => (id === page ? html : null) },
    ],
    build: {
      rolldownOptions: { input: page },
      outDir: join(content, 'frontend'),
      emptyOutDir: true,
      target: 'es2024',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
    },
  });
  await copyFile(join(folder, 'frontend', 'icon.svg'), join(content, 'frontend', 'icon.svg'));
  await copyFile(join(folder, 'manifest.json'), join(content, 'manifest.json'));
  const workload = join(folder, 'workload');
  if (existsSync(workload)) await cp(workload, join(content, 'workload'), { recursive: true });
  return { folder: content };
}

/** The page of a system app, which exists only while it is built: its name, its styles, and a script that draws it. */
async function pageOf(folder: string): Promise<string> {
  const { name } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as { name: string };
  const own = existsSync(join(folder, 'frontend', 'style.css')) ? ['./style.css'] : [];
  const styles = ['../../shared/style.css', ...own].map((file) => `<link rel="stylesheet" href="${file}" />`);
  const page = await readFile(join(apps, 'shared', 'page.html'), 'utf8');
  // A function, because `$` in a replacement means something.
  return page.replace('%NAME%', () => name).replace('%STYLES%', styles.join('\n    '));
}

async function contentHash(files: PackagePlan['files']): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, source } of files) {
    hash.update(`\0${name}\0`).update('bytes' in source ? source.bytes : await readFile(source.path));
  }
  return hash.digest('hex');
}

/** One hash over the names and contents of files and folders. */
async function hashOf(paths: readonly string[], start = ''): Promise<string> {
  const hash = createHash('sha256').update(start);
  for (const path of paths) {
    for (const file of await filesBelow(path)) {
      hash.update(`\0${relative(path, file)}\0`).update(await readFile(file));
    }
  }
  return hash.digest('hex');
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => null);
  if (entries === null) return [path];
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

if (import.meta.main) {
  for (const { id, version } of await buildApps()) console.log(`${id} ${version}`);
}
