// The SDK for projects outside of this repository, made once for these sources: its package, and its declarations by themselves.
// Making them takes seconds, and `platform init` should not.
import { createHash } from 'node:crypto';
import { access, cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(import.meta.dirname, '..');
/** Beside what `buildSdk` makes. */
const DIST = path.join(root, 'dist');
const NAME = 'package-';
const TYPES = 'types';

/** @returns the path of the package in `folder` */
export async function packSdk(folder: string): Promise<string> {
  return withSdk(async (made) => {
    const [name] = (await readdir(made)).filter((one) => one.endsWith('.tgz'));
    if (name === undefined) throw new Error(`${made} holds no package.`);
    const target = path.join(folder, name);
    await cp(path.join(made, name), target);
    return target;
  });
}

/** Writes the declarations of both entries. */
export function writeSdkTypes(folder: string): Promise<void> {
  return withSdk((made) => cp(path.join(made, TYPES), folder, { recursive: true }));
}

/** Makes it ahead of its use, for users who may not write here. */
export function makeSdk(): Promise<void> {
  return withSdk(async () => undefined);
}

async function withSdk<Result>(work: (made: string) => Promise<Result>): Promise<Result> {
  const place = path.join(DIST, `${NAME}${(await sourceHash()).slice(0, 24)}`);
  if (await exists(place)) return work(place);
  const scratch = await mkdtemp(path.join(tmpdir(), 'sdk-made-'));
  try {
    // Readable for everybody, as a folder of mkdtemp is not.
    const made = path.join(scratch, 'sdk');
    await mkdir(made);
    await make(made);
    await keep(made, place);
    return await work(made);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function make(folder: string): Promise<void> {
  // Loaded here: mostly there is nothing to make.
  const { stageSdk, packStaged } = await import('./pack.ts');
  const stage = path.join(folder, 'stage');
  await stageSdk(stage);
  await packStaged(stage, folder);
  await rename(path.join(stage, TYPES), path.join(folder, TYPES));
  await rm(stage, { recursive: true });
}

/** For the next one who needs it. A checkout that only others may write in is left as it is. */
async function keep(made: string, place: string): Promise<void> {
  const fresh = `${place}.${process.pid}`;
  try {
    await mkdir(DIST, { recursive: true });
    await cp(made, fresh, { recursive: true });
    await rename(fresh, place);
    const former = (await readdir(DIST)).filter((name) => name.startsWith(NAME) && name !== path.basename(place));
    for (const name of former) await rm(path.join(DIST, name), { recursive: true, force: true });
  } catch (error) {
    await rm(fresh, { recursive: true, force: true }).catch(() => undefined);
    // Another command may have been faster.
    if (!['EACCES', 'EROFS', 'EPERM', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Of all that it is made of. */
async function sourceHash(): Promise<string> {
  const contract = path.dirname(fileURLToPath(import.meta.resolve('@platform/contract')));
  const hash = createHash('sha256');
  for (const folder of [path.join(root, 'src'), path.join(root, 'pack'), contract]) {
    const names = await readdir(folder, { recursive: true });
    for (const name of names.filter((one) => /(?<!\.test)\.(?:ts|json)$/.test(one)).sort())
      hash.update(`\0${name}\0`).update(await readFile(path.join(folder, name)));
  }
  for (const name of ['package.json', 'README.md', '../../package-lock.json'])
    hash.update(await readFile(path.join(root, name)));
  return hash.digest('hex');
}
