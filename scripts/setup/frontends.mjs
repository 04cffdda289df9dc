// Builds what browsers load (the shell and the default apps) when its sources changed since the last build.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { SetupError, step } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

const sources = [
  'packages/shell',
  'packages/sdk',
  'packages/contract',
  'apps',
  // Come with the platform too.
  'examples',
  // These write the packages of the default apps.
  'scripts/build-apps.ts',
  'packages/cli/src/packaging',
  'package-lock.json',
];
const results = ['packages/shell/dist', 'packages/sdk/dist'];

/** Whether the last build was made from the sources as they are now, and is still there. */
export function frontendsReady(root) {
  const record = readRecord(root);
  if (record === undefined) return false;
  const before = record.sources;
  const now = listFiles(root, sources, isSource);
  if (now.length !== Object.keys(before).length) return false;
  let touched = false;
  for (const { name, size, changed } of now) {
    const known = before[name];
    if (known === undefined || known.size !== size) return false;
    if (known.changed === changed) continue;
    // A checkout or a copy changes times without changing text.
    if (known.hash !== hashOf(root, name)) return false;
    known.changed = changed;
    touched = true;
  }
  const built = Object.fromEntries(listResults(root).map(({ name, size }) => [name, size]));
  if (Object.entries(record.results).some(([name, size]) => built[name] !== size)) return false;
  if (touched) writeRecord(root, record);
  return true;
}

/**
 * @param {string} root
 * @param {string} node the Node 24 to build with
 * @param {number} lock the open lock file, held by the build as long as it runs
 * @throws {SetupError} with the last output of the build
 */
export async function buildFrontends(root, node, lock) {
  await step('Building the shell and the default apps', 'Shell and default apps built', async () => {
    // Listed before the build, so that what is edited during it is built again next time.
    const files = listFiles(root, sources, isSource);
    const listed = files.map(({ name, size, changed }) => [name, { size, changed, hash: hashOf(root, name) }]);
    const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe', lock] };
    const { code, signal, said } = await runQuietly(node, [path.join(root, 'packages/shell/build.ts')], options);
    if (code !== 0) {
      throw new SetupError(
        `Building the shell failed (${signal ?? `exit code ${code}`}): ${said.trim().slice(-2_000)}`,
      );
    }
    const built = listResults(root).map(({ name, size }) => [name, size]);
    writeRecord(root, { sources: Object.fromEntries(listed), results: Object.fromEntries(built) });
  });
}

function isSource(name) {
  return !/(^|\/)(node_modules|dist|test-vectors)$|\.test\.tsx?$|\.md$/.test(name);
}

function listResults(root) {
  const entries = fs.readdirSync(path.join(root, 'apps'), { withFileTypes: true });
  const apps = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `apps/${name}/dist`);
  return listFiles(root, [...results, ...apps], () => true);
}

function listFiles(root, names, wanted) {
  const files = [];
  for (const name of names) {
    const stat = fs.statSync(path.join(root, name), { throwIfNoEntry: false });
    if (stat === undefined || !wanted(name)) continue;
    if (stat.isFile()) files.push({ name, size: stat.size, changed: stat.mtimeMs });
    else if (stat.isDirectory()) {
      const inside = fs.readdirSync(path.join(root, name)).map((child) => `${name}/${child}`);
      files.push(...listFiles(root, inside, wanted));
    }
  }
  return files;
}

function hashOf(root, name) {
  return createHash('sha256')
    .update(fs.readFileSync(path.join(root, name)))
    .digest('base64');
}

function recordFile(root) {
  return path.join(root, '.platform', 'frontends.json');
}

function readRecord(root) {
  try {
    return JSON.parse(fs.readFileSync(recordFile(root), 'utf8'));
  } catch {
    // None yet, or cut short by a crash: build again.
    return undefined;
  }
}

function writeRecord(root, record) {
  const half = `${recordFile(root)}.${process.pid}`;
  try {
    fs.writeFileSync(half, JSON.stringify(record));
    fs.renameSync(half, recordFile(root));
  } catch (error) {
    // A read-only checkout of another user: the files are compared by content again next time.
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
  }
}
