// The declarations of the SDK's two entries and of what they lead to, with the types of the contract written out.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { API } from 'typescript/unstable/sync';
import { writeContractTypes } from './contract-types.ts';

const CONFIG = path.join(import.meta.dirname, 'tsconfig.json');
const CONTRACT = '@platform/contract';
/** The module that takes its place. */
const WRITTEN_OUT = './contract.js';

/** @throws Error when a declaration leads out of the SDK and the contract */
export async function writeDeclarations(folder: string, entries: readonly string[]): Promise<void> {
  const emitted = await mkdtemp(path.join(tmpdir(), 'sdk-types-'));
  try {
    await compile(emitted);
    const modules = await reachable(path.join(emitted, 'sdk', 'src'), entries);
    await mkdir(folder, { recursive: true });
    const wanted = new Set<string>();
    for (const [name, text] of modules) {
      for (const type of importedFromContract(text)) wanted.add(type);
      const local = text
        .replaceAll(`'${CONTRACT}'`, `'${WRITTEN_OUT}'`)
        .replaceAll(/(?<=from '\.\/[^']+)\.ts(?=')/g, '.js');
      await writeFile(path.join(folder, `${name}.d.ts`), local);
    }
    await writeFile(path.join(folder, WRITTEN_OUT.replace('.js', '.d.ts')), contract(wanted));
  } finally {
    await rm(emitted, { recursive: true, force: true });
  }
}

async function compile(outDir: string): Promise<void> {
  const compiler = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '--project', CONFIG, '--outDir', outDir]);
}

/** Name and text of the entries and of every module that they import, one through another. */
async function reachable(folder: string, entries: readonly string[]): Promise<Map<string, string>> {
  const modules = new Map<string, string>();
  const names = new Set(entries);
  for (const name of names) {
    const text = await readFile(path.join(folder, `${name}.d.ts`), 'utf8');
    modules.set(name, text);
    for (const specifier of specifiers(text)) {
      if (specifier === CONTRACT) continue;
      const [, local] = /^\.\/([a-z-]+)\.ts$/.exec(specifier) ?? [];
      if (local === undefined) throw new Error(`The declarations of ${name}.ts lead out of the SDK, to ${specifier}.`);
      names.add(local);
    }
  }
  return modules;
}

function specifiers(text: string): string[] {
  // Examples import the package itself.
  const code = text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  return [...code.matchAll(/\bfrom '([^']+)'|\bimport\(["']([^"']+)["']\)|^import '([^']+)'/gm)].map(
    ([, from, dynamic, plain]) => from ?? dynamic ?? plain ?? '',
  );
}

function importedFromContract(text: string): string[] {
  return [...text.matchAll(/\{([^{}]*)\} from '@platform\/contract'/g)].flatMap(([, list = '']) =>
    list
      .split(',')
      .map((name) =>
        name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*$/, ''),
      )
      .filter((name) => name !== ''),
  );
}

function contract(names: Iterable<string>): string {
  const api = new API({ cwd: import.meta.dirname });
  try {
    using snapshot = api.updateSnapshot({ openProjects: [CONFIG] });
    const project = snapshot.getProject(CONFIG);
    if (project === undefined) throw new Error(`${CONFIG} cannot be opened.`);
    const head = '// Types of the platform’s routes and of its shell.\n\n';
    return head + writeContractTypes(project, fileURLToPath(import.meta.resolve(CONTRACT)), names);
  } finally {
    api.close();
  }
}
