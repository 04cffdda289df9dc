// What every module of the checkout imports, in whatever form, and which file or package that is.
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'rolldown/utils';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Import {
  /** The importing file, from the root of the checkout. */
  readonly from: string;
  /** As it is written. */
  readonly name: string;
}

const MODULE = /\.(?:ts|tsx|mts|mjs|js)$/;

/** Projects of their own, which `platform init` copies. */
const TEMPLATES = 'packages/cli/templates';

/** Modules of the checkout from its root, without what was installed or built. */
export function listModules(): string[] {
  const passedOver = (entry: string) =>
    /^(?:node_modules|dist|\..+)$/.test(path.basename(entry)) || entry.endsWith(TEMPLATES);
  return globSync('**/*.{ts,tsx,mts,mjs,js}', { cwd: ROOT, exclude: passedOver });
}

/**
 * The modules that a source text names: imports and re-exports of values and of types, `import()`, and URLs relative to
 * the module, which threads and processes are started with.
 */
export function importsOf(from: string, source: string): Import[] {
  const names: string[] = [];
  const add = (node: unknown) => {
    if (isLiteral(node)) names.push(node.value);
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source),
    ExportNamedDeclaration: (node) => add(node.source),
    ExportAllDeclaration: (node) => add(node.source),
    ImportExpression: (node) => add(node.source),
    TSImportType: (node) => add(node.source),
    NewExpression(node) {
      const [target] = node.arguments;
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'URL' || node.arguments.length < 2) return;
      if (isLiteral(target) && MODULE.test(target.value)) names.push(relative(target.value));
    },
  }).visit(parseSync(path.basename(from), source).program);
  return names.map((name) => ({ from, name }));
}

/** The first argument of `new URL` may leave out `./`. */
const relative = (name: string) => (/^\.{1,2}\//.test(name) ? name : `./${name}`);

function isLiteral(node: unknown): node is { readonly value: string } {
  return typeof node === 'object' && node !== null && 'value' in node && typeof node.value === 'string';
}

export function readImports(): Import[] {
  return listModules().flatMap((from) => importsOf(from, readFileSync(path.join(ROOT, from), 'utf8')));
}

export interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** @param folder from the root of the checkout */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));
}
