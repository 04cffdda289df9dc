// Decides what goes into a package: manifest.json, everything below frontend/ and workload/, and the SDK's files.
import { isUtf8 } from 'node:buffer';
import type { Dirent, Stats } from 'node:fs';
import { lstat, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkExecutable,
  EXECUTABLE_HEAD_BYTES,
  inPackageOrder,
  limits,
  type Manifest,
  readImageReference,
  sizeText,
} from '@platform/contract';
import { type BundledBackend, bundleWorkload, importsPackages } from './bundle-workload.ts';
import { isLitter } from './litter.ts';
import { PackageProblem } from './package-problem.ts';
import { type ManifestChange, readManifest } from './read-manifest.ts';

/** The SDK as files, added to each package that has no file of that name itself. */
export interface SdkFiles {
  readonly browser: string;
  readonly workload: string;
}

export interface PlanOptions {
  readonly folder: string;
  /** Default: the manifest goes into the package as it is. */
  readonly change?: ManifestChange;
  /** Default: none is added. */
  readonly sdk?: SdkFiles;
}

export interface PackageFile {
  /** Path in the package, with `/`. */
  readonly name: string;
  readonly size: number;
  /** Where the bytes come from. */
  readonly source: { readonly path: string } | { readonly bytes: Buffer };
}

export interface PackagePlan {
  readonly manifest: Manifest;
  /** In the order of the archive: the manifest first, the rest by name. */
  readonly files: readonly PackageFile[];
  /** Names at the top of the folder that no package holds, such as README.md. */
  readonly leftOut: readonly string[];
  /** Paths of what other programs left in the parts, folders with `/` at their end. */
  readonly litter: readonly string[];
}

/** Names under which frontend and workload import the SDK: `./platform-sdk.js` and `./platform-sdk.mjs`. */
export const SDK_NAMES = { browser: 'frontend/platform-sdk.js', workload: 'workload/platform-sdk.mjs' } as const;

const PARTS = ['frontend', 'workload'] as const;
/** What a backend imports goes into its script. */
const BUNDLED = ['node_modules', 'package.json', 'package-lock.json'];

/** What is found in the parts. */
interface Found {
  readonly files: PackageFile[];
  readonly problems: string[];
  readonly litter: string[];
}

/** @throws {PackageProblem} with everything that is wrong with the folder */
export async function planPackage({ folder, change, sdk }: PlanOptions): Promise<PackagePlan> {
  const { manifest, bytes } = await readManifest(folder, change);
  const found: Found = { files: [], problems: [], litter: [] };
  const { files, problems, litter } = found;
  const leftOut: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const part = PARTS.find((name) => name === entry.name);
    if (part !== undefined && manifest[part] !== undefined) await collect(folder, part, found);
    else if (entry.name !== 'manifest.json' && !entry.name.startsWith('.') && !isLitter(entry.name))
      leftOut.push(entry.name);
  }
  const { workload } = manifest;
  const bundled = workload?.runtime === 'node' && (await importsPackages(folder));
  if (bundled) await bundle({ folder, entry: workload.entry ?? '', sdk: sdk?.workload }, files);
  if (sdk !== undefined) {
    if (manifest.frontend !== undefined) await addSdk(files, SDK_NAMES.browser, sdk.browser);
    if (workload?.runtime === 'node') await addSdk(files, SDK_NAMES.workload, sdk.workload);
  }
  files.push({ name: 'manifest.json', size: bytes.length, source: { bytes } });
  problems.push(
    ...missingEntries(manifest, files),
    ...(await executableFaults(manifest, files)),
    ...(await instructionFaults(manifest, files)),
    ...excesses(files),
  );
  if (problems.length > 0) throw new PackageProblem(problems);
  return {
    manifest,
    files: inPackageOrder(files),
    leftOut: leftOut.filter((name) => !(bundled && BUNDLED.includes(name))),
    litter: litter.sort(),
  };
}

/** In the place of the script to start, the same with all that it imports. */
async function bundle(backend: BundledBackend, files: PackageFile[]): Promise<void> {
  const name = `workload/${backend.entry}`;
  const index = files.findIndex((file) => file.name === name);
  if (index < 0) return;
  const bytes = await bundleWorkload(backend);
  files[index] = { name, size: bytes.length, source: { bytes } };
}

async function addSdk(files: PackageFile[], name: string, path: string): Promise<void> {
  if (files.some((file) => file.name === name)) return;
  files.push({ name, size: (await stat(path)).size, source: { path } });
}

async function collect(folder: string, name: string, found: Found): Promise<void> {
  const entries = await readdir(join(folder, name), { withFileTypes: true }).catch(() => null);
  if (entries === null) {
    found.problems.push(`${name} is not a folder that can be read.`);
    return;
  }
  for (const entry of entries) {
    // What npm leaves in its folders for itself (.bin with its links, .package-lock.json) runs nowhere.
    if (entry.name.startsWith('.') && name.split('/').includes('node_modules')) continue;
    const path = `${name}/${entry.name}`;
    if (isLitter(entry.name)) found.litter.push(entry.isDirectory() ? `${path}/` : path);
    else await take(folder, path, entry, found);
  }
}

async function take(folder: string, name: string, entry: Dirent, found: Found): Promise<void> {
  const fault = faultOf(name, entry);
  if (fault !== null) found.problems.push(fault);
  else if (entry.isDirectory()) await collect(folder, name, found);
  else {
    const path = join(folder, name);
    const facts: Stats = await lstat(path);
    found.files.push({ name, size: facts.size, source: { path } });
  }
}

function faultOf(name: string, entry: Dirent): string | null {
  if (entry.name.startsWith('.')) return `${name} is hidden; the platform never serves such files. Move it out.`;
  if (entry.isSymbolicLink()) return `${name} is a link; packages hold only plain files. Put a copy in its place.`;
  if (!entry.isFile() && !entry.isDirectory()) return `${name} is neither a file nor a folder.`;
  if (/[\\:*?"<>|\p{Cc}]/u.test(entry.name))
    return `${name} holds a character that is special on some systems. Rename it.`;
  if (Buffer.byteLength(name) > limits.packagePathLength.value) {
    return `${name} is longer than ${sizeText(limits.packagePathLength.value)}.`;
  }
  return null;
}

function missingEntries(
  { frontend, workload, icon, screenshots = [] }: Manifest,
  files: readonly PackageFile[],
): string[] {
  const names = new Set(files.map((file) => file.name));
  const named: [member: string, path: string][] = [];
  if (frontend !== undefined) named.push(['frontend.entry', `frontend/${frontend.entry}`]);
  if (icon !== undefined) named.push(['icon', `frontend/${icon}`]);
  for (const name of screenshots) named.push(['screenshots', `frontend/${name}`]);
  if (workload?.entry !== undefined) named.push(['workload.entry', `workload/${workload.entry}`]);
  if (workload?.agent !== undefined)
    named.push(['workload.agent.instructions', `workload/${workload.agent.instructions}`]);
  if (workload?.image !== undefined && readImageReference(workload.image) === undefined)
    named.push(['workload.image', `workload/${workload.image}`]);
  return named
    .filter(([, path]) => !names.has(path))
    .map(([member, path]) => `manifest.json: ${member} names ${path}, which is not there.`);
}

async function executableFaults({ workload }: Manifest, files: readonly PackageFile[]): Promise<string[]> {
  if (workload?.runtime !== 'binary') return [];
  const name = `workload/${workload.entry}`;
  const source = files.find((file) => file.name === name)?.source;
  if (source === undefined) return [];
  const check = checkExecutable('bytes' in source ? source.bytes : await headOf(source.path));
  return check.ok ? [] : [`manifest.json: workload.entry names ${name}, which ${check.fault}.`];
}

/** What an agent is told must be text, and little enough for every model call. */
async function instructionFaults({ workload }: Manifest, files: readonly PackageFile[]): Promise<string[]> {
  if (workload?.agent === undefined) return [];
  const name = `workload/${workload.agent.instructions}`;
  const file = files.find((one) => one.name === name);
  if (file === undefined) return [];
  const fault = (words: string) => [`manifest.json: workload.agent.instructions names ${name}, which ${words}.`];
  const most = limits.agentInstructions.value;
  if (file.size > most) return fault(`has more than ${sizeText(most)}`);
  const bytes = 'bytes' in file.source ? file.source.bytes : await readFile(file.source.path);
  if (!isUtf8(bytes)) return fault('is no text in UTF-8');
  return bytes.toString('utf8').trim() === '' ? fault('is empty') : [];
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(EXECUTABLE_HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    return head.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function excesses(files: readonly PackageFile[]): string[] {
  const problems: string[] = [];
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > limits.packageUnpacked.value) {
    problems.push(
      `The files have ${sizeText(size, Math.ceil)} together; at most ${sizeText(limits.packageUnpacked.value)} are allowed.`,
    );
  }
  if (files.length > limits.packageEntries.value) {
    problems.push(`There are ${files.length} files; at most ${limits.packageEntries.value} are allowed.`);
  }
  return problems;
}
