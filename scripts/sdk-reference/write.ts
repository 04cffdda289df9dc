// Writes docs/sdk, the reference of the SDK, from the declarations of its package. Run it after a change of the SDK's
// interface; a test compares. The generator brings a TypeScript of its own, because it does not know version 7 yet.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { writeDeclarations } from '@platform/sdk/pack';
import { lockedTools } from '../../tests/support/locked-tools.ts';

const REFERENCE = path.join(import.meta.dirname, '../../docs/sdk');

const COMPILER = {
  target: 'es2024',
  module: 'nodenext',
  lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
  types: [],
  strict: true,
};

const OPTIONS = {
  plugin: ['typedoc-plugin-markdown'],
  name: '@platform/sdk',
  entryPoints: ['types/workload.d.ts', 'types/browser.d.ts'],
  tsconfig: 'tsconfig.json',
  out: 'reference',
  logLevel: 'Warn',
  readme: 'index.md',
  mergeReadme: true,
  router: 'member',
  sort: ['kind', 'alphabetical'],
  disableSources: true,
  excludeExternals: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  parametersFormat: 'table',
  classPropertiesFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  // Types of the contract that only others name are written out where they are used.
  validation: { notExported: false },
};

/** @returns how many files it has */
export async function writeReference(folder: string): Promise<number> {
  const tools = await lockedTools(import.meta.dirname);
  const work = await mkdtemp(path.join(tmpdir(), 'sdk-reference-'));
  try {
    await writeDeclarations(path.join(work, 'types'), ['workload', 'browser']);
    await writeFile(
      path.join(work, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: COMPILER, include: ['types'] }),
    );
    await cp(path.join(import.meta.dirname, 'index.md'), path.join(work, 'index.md'));
    await writeFile(path.join(work, 'typedoc.json'), JSON.stringify(OPTIONS));
    await symlink(path.join(tools, 'node_modules'), path.join(work, 'node_modules'));
    const generator = path.join(tools, 'node_modules/typedoc/bin/typedoc');
    await promisify(execFile)(process.execPath, [generator, '--options', 'typedoc.json'], { cwd: work });
    await rm(folder, { recursive: true, force: true });
    await cp(path.join(work, 'reference'), folder, { recursive: true });
    return (await readdir(folder)).length;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(`docs/sdk: ${await writeReference(REFERENCE)} files`);
