// The import rule: which package may import which, by what name, and from where. biome.json says the same of what a name
// shows (imports.test.ts compares them); a path is judged here by the file that it leads to.
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { type Import, ROOT, readManifest } from './modules.ts';

const PARTS = ['contract', 'http', 'link'];

/** Whatever holds modules, and the packages that it may import; a new package does not pass without a line. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'packages/contract': [],
  'packages/http': ['contract'],
  'packages/link': ['contract'],
  'packages/core': PARTS,
  'packages/gateway': PARTS,
  'packages/runtime': PARTS,
  'packages/ingress': PARTS,
  'packages/messaging-bridge': PARTS,
  'packages/agent-worker': ['contract'],
  'packages/cli': ['agent-worker', 'core', 'gateway', 'ingress', 'messaging-bridge', 'runtime', 'sdk', ...PARTS],
  'packages/sdk': ['contract'],
  'packages/shell': ['contract'],
  apps: ['sdk', 'shell'],
  examples: ['sdk'],
};

/** These are of the whole checkout: they import any package. */
export const WHOLE = ['tests', 'bench', 'scripts'];

/** `packages/<name>`, or the first folder of a file. */
export const homeOf = (file: string) => /^(?:packages\/)?[^/]+/.exec(file)?.[0] ?? file;

/** Tests, and what only they use. */
export const isTest = (file: string) => /\.test\.tsx?$|\/test-support\//.test(file) || WHOLE.includes(homeOf(file));

/** Why an import breaks the rule; `null` when it keeps it. */
export function refusal({ from, name }: Import): string | null {
  const home = homeOf(from);
  const mayImport = MAY_IMPORT[home];
  if (mayImport === undefined && !WHOLE.includes(home)) return `MAY_IMPORT says nothing of ${home}`;
  const may = (target: string) => mayImport?.includes(target) ?? true;
  const [, target = '', subpath = ''] = /^@platform\/([^/]+)(.*)$/.exec(name) ?? [];
  if (target !== '') {
    if (!may(target)) return `${home} does not import ${target}`;
    return `.${subpath}` in exportsOf(target) ? null : `${target} has no entry .${subpath}`;
  }
  if (!name.startsWith('.')) return null;
  const file = path.join(path.dirname(from), name);
  const there = homeOf(file);
  if (!isTest(from) && isTest(file) && !WHOLE.includes(there)) return `${from} is no test, and imports test support`;
  if (there === home) return null;
  if (WHOLE.includes(there)) return isTest(from) ? null : `${from} is no test, and imports from ${there}`;
  if (WHOLE.includes(home) && binsOf(there).includes(file)) return null;
  if (!isTest(from) || !/^packages\/[^/]+\/test-support\//.test(file)) {
    return `${name} leads into ${there}: import it by name, through its exports`;
  }
  return may(there.replace('packages/', '')) ? null : `tests of ${home} do not import test support of ${there}`;
}

/** Programs, which a test starts by their file. */
const binsOf = (folder: string) =>
  Object.values(existsSync(path.join(ROOT, folder, 'package.json')) ? (readManifest(folder).bin ?? {}) : {}).map(
    (file) => path.join(folder, file),
  );

function exportsOf(target: string): Readonly<Record<string, string>> {
  const folder = `packages/${target}`;
  return existsSync(path.join(ROOT, folder, 'package.json')) ? (readManifest(folder).exports ?? {}) : {};
}
