// What a file of the checkout leans on: what it imports, and every file or folder that one of its strings names,
// relative to itself, to its package or to the checkout; so programs that tests start and vectors that they read count
// too.
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';

export interface Checkout {
  readonly root: string;
  /** Every file of it, from its root; what git ignores is not among them. */
  readonly files: readonly string[];
}

export interface Imports {
  /** The files that this file leans on itself. */
  next(file: string): readonly string[];
  /** The names that it imports from `@platform/contract`. */
  fromContract(file: string): readonly string[];
}

const CODE = /\.(?:ts|mts|tsx|mjs|js|css|html)$/;
/** Strings without spaces, as paths in this repository have none; of a template the part before its first value. */
/** Erased before a file runs; the type check reads what it names. */
const TYPES_ONLY = /^(?:import|export) type [^;'"=]*? from '[^']+';$/gm;
const CONTRACT_IMPORT = /^(?:import|export) \{([^}]*)\} from '@platform\/contract';$/gm;
const STRINGS = /'([^'\s]+)'|"([^"\s]+)"|`([^`\s$]+)/g;

export function readImports({ root, files }: Checkout): Imports {
  const known = new Set(files);
  const packages = readPackages(root, files);
  const below = filesByFolder(files);
  const read = new Map<string, { readonly next: readonly string[]; readonly fromContract: readonly string[] }>();

  function leansOn(file: string) {
    const found = read.get(file);
    if (found !== undefined) return found;
    const code = CODE.test(file) && existsSync(path.join(root, file));
    const text = code ? readFileSync(path.join(root, file), 'utf8').replaceAll(TYPES_ONLY, '') : '';
    const named = [...text.matchAll(STRINGS)].map(([, one, two, three]) => one ?? two ?? three ?? '');
    const all = {
      next: [...new Set(named.flatMap((name) => resolve(file, name)))],
      fromContract: [...text.matchAll(CONTRACT_IMPORT)].flatMap(([, names]) => namesIn(names ?? '')),
    };
    read.set(file, all);
    return all;
  }

  function resolve(from: string, name: string): readonly string[] {
    for (const [prefix, { folder, exported }] of packages) {
      if (name !== prefix && !name.startsWith(`${prefix}/`)) continue;
      const target = exported(name.slice(prefix.length));
      return [path.join(folder, 'package.json'), ...(target !== undefined && known.has(target) ? [target] : [])];
    }
    if (!/[./]/.test(name)) return [];
    const home = [...packages.values()].find(({ folder }) => from.startsWith(`${folder}/`))?.folder;
    const bases = [path.dirname(from), ...(home === undefined ? [] : [home]), ''];
    for (const base of bases) {
      const target = path.join(base, name).replace(/\/$/, '');
      if (known.has(target)) return [target];
      // What a build made: its sources are those of its package.
      const built = /^(.+)\/dist(?:\/|$)/.exec(target)?.[1];
      if (built !== undefined && below.has(built)) return below.get(built) ?? [];
      // A folder that a file lies in says nothing; `src` as a word neither.
      if (name.includes('/') && below.has(target) && !from.startsWith(`${target}/`)) return below.get(target) ?? [];
    }
    return [];
  }

  return { next: (file) => leansOn(file).next, fromContract: (file) => leansOn(file).fromContract };
}

/** `a, type B, c as d` names a and c. */
function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim().replace(/ as .*$/, ''))
    .filter((name) => name !== '' && !name.startsWith('type '));
}

interface Package {
  readonly folder: string;
  /** The file behind a subpath (`''` or `/name`) of its exports. */
  exported(subpath: string): string | undefined;
}

function readPackages(root: string, files: readonly string[]): ReadonlyMap<string, Package> {
  const manifests = files.filter((file) => /^[^/]+\/[^/]+\/package\.json$/.test(file));
  return new Map(
    manifests.flatMap((file): [string, Package][] => {
      const manifest: { name?: string; exports?: Record<string, unknown> } = JSON.parse(
        readFileSync(path.join(root, file), 'utf8'),
      );
      const folder = path.dirname(file);
      if (manifest.name === undefined) return [];
      const exported = (subpath: string) => {
        const target = exportTarget(manifest.exports ?? {}, `.${subpath}`);
        return target === undefined ? undefined : path.join(folder, target);
      };
      return [[manifest.name, { folder, exported }]];
    }),
  );
}

function exportTarget(exports: Readonly<Record<string, unknown>>, subpath: string): string | undefined {
  const exact = fileOf(exports[subpath]);
  if (exact !== undefined) return exact;
  for (const [pattern, target] of Object.entries(exports)) {
    const [start = '', end] = pattern.split('*');
    if (end === undefined || !subpath.startsWith(start) || !subpath.endsWith(end)) continue;
    return fileOf(target)?.replaceAll('*', subpath.slice(start.length, subpath.length - end.length));
  }
  return undefined;
}

/** Of conditions the first that names a file. */
function fileOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  return Object.values(target).map(fileOf).find(Boolean);
}

function filesByFolder(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const below = new Map<string, string[]>();
  for (const file of files) {
    for (let folder = path.dirname(file); folder !== '.'; folder = path.dirname(folder)) {
      const list = below.get(folder);
      if (list === undefined) below.set(folder, [file]);
      else list.push(file);
    }
  }
  return below;
}
