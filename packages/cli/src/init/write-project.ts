// Writes a new project from the templates. It is made elsewhere and copied at the end, so that a failure leaves the
// folder as it was.
import { constants, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { packSdk } from '@platform/sdk/made-once';
import type { Project } from './choose-project.ts';
import { TYPES, writeSchema, writeTypes } from './platform-files.ts';
import { LAYERS, manifestFor, named, TEMPLATES } from './templates.ts';

/** @returns the names of the files that an author may want to open, in order */
export async function writeProject(folder: string, project: Project): Promise<readonly string[]> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'platform-init-'));
  try {
    const made = path.join(scratch, 'project');
    await mkdir(made);
    await copyLayers(made, project);
    await nameIt(made, project);
    await addSdk(made, project);
    const files = await listFiles(made);
    for (const file of files) await copyInto(folder, made, file);
    return [...new Set(files.map((file) => (file.startsWith(TYPES) ? TYPES : file)))];
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function copyLayers(made: string, { kind, language }: Project): Promise<void> {
  const layers = await readdir(path.join(TEMPLATES, language));
  for (const layer of LAYERS[kind])
    if (layers.includes(layer)) await cp(path.join(TEMPLATES, language, layer), made, { recursive: true });
  // Under its own name it would hide files of the template from git.
  await rename(path.join(made, 'gitignore'), path.join(made, '.gitignore'));
}

async function nameIt(made: string, project: Project): Promise<void> {
  const { kind, language, name } = project;
  const manifest = manifestFor(await readJson(path.join(TEMPLATES, 'manifest.json')), project);
  await writeJson(path.join(made, 'manifest.json'), manifest);
  await writeSchema(made);
  if (kind === 'backend') return;
  const page = path.join(made, language === 'typescript' ? 'page' : 'frontend', 'index.html');
  await writeFile(page, named(await readFile(page, 'utf8'), name));
}

/** The SDK as a package; plain JavaScript gets it from the packer, and here its types for editors. */
async function addSdk(made: string, { language, id }: Project): Promise<void> {
  if (language === 'javascript') return writeTypes(made);
  const tarball = path.basename(await packSdk(made));
  const file = path.join(made, 'package.json');
  const { devDependencies, ...rest } = await readJson(file);
  const sdk = { '@platform/sdk': `file:${tarball}` };
  await writeJson(file, { ...rest, name: id, devDependencies: { ...(devDependencies as object), ...sdk } });
}

async function readJson(file: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse(await readFile(file, 'utf8'));
}

function writeJson(file: string, value: unknown): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

async function listFiles(made: string): Promise<string[]> {
  const entries = await readdir(made, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(made, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** Never over a file that somebody put there meanwhile. */
async function copyInto(folder: string, made: string, file: string): Promise<void> {
  const target = path.join(folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(path.join(made, file), target, constants.COPYFILE_EXCL);
}
