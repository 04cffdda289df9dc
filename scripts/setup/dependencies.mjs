// Installs what package-lock.json names, with npm, when node_modules does not hold exactly that.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { libc } from './node.mjs';
import { SetupError, step } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

const networkCodes =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$/;
const certificateCodes = /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

const asOurNode = fileURLToPath(new URL('as-our-node.cjs', import.meta.url));

/** Whether node_modules is what the lockfile says, for this kind of machine. */
export function dependenciesReady(root) {
  const wanted = stampOf(root);
  const file = stampFile(root);
  if (readText(file) === wanted) return true;
  // A developer's own `npm install` leaves npm's record of what lies there, but no stamp.
  if (readText(recordFile(root)) === undefined || missing(root).length > 0) return false;
  try {
    fs.writeFileSync(file, wanted);
  } catch {
    // A read-only checkout of another user: it is compared again next time.
  }
  return true;
}

/**
 * @param {string} root
 * @param {number} lock the open lock file, held by npm as long as it runs
 * @throws {SetupError} one line saying what to do
 */
export async function installDependencies(root, lock) {
  const [program, ...args] = npmCommand();
  // Install scripts stay off: no package may run code here, and none that we use needs to.
  const command = [...args, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional'];
  // npm's own patience would keep a person without a network waiting for more than a minute.
  command.push('--fetch-retries=3', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000');
  await step('Installing dependencies', 'Dependencies installed', async () => {
    const options = { cwd: root, env: forOurNode(root), stdio: ['ignore', 'pipe', 'pipe', lock] };
    const result = await runQuietly(program, command, options);
    if (result.missing)
      throw new SetupError('npm was not found: install it (on Debian: apt-get install npm), then try again.');
    if (result.code !== 0) throw new SetupError(explain(result, root));
    // Of optional packages npm leaves out without a word what it could not fetch; for us they are the programs of this machine.
    const lacking = missing(root);
    if (lacking.length > 0) {
      throw new SetupError(
        `npm left out what this machine needs (${lacking.join(', ')}): try again. If it stays so, look at the settings omit, os, cpu and libc in \`npm config ls\`.`,
      );
    }
    // Without a single dependency npm makes no such folder.
    fs.mkdirSync(path.join(root, 'node_modules'), { recursive: true });
    linkNode(root);
    fs.writeFileSync(stampFile(root), stampOf(root));
  });
}

/** `node` of scripts and of `node_modules/.bin` on the PATH is ours: npm up to 9 makes no link of that name. */
function linkNode(root) {
  const name = `node-${process.platform}-${process.arch}`;
  const link = path.join(root, 'node_modules', '.bin', 'node');
  if (libc() !== 'glibc' || !fs.existsSync(path.join(root, 'node_modules', name, 'bin', 'node'))) return;
  if (fs.existsSync(link)) return;
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync(`../${name}/bin/node`, link);
}

function stampFile(root) {
  return path.join(root, 'node_modules', '.platform-setup');
}

function recordFile(root) {
  return path.join(root, 'node_modules', '.package-lock.json');
}

function stampOf(root) {
  const lockfile = fs.readFileSync(path.join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lockfile).digest('hex');
  return `${hash} ${process.platform}-${process.arch}-${libc()}\n`;
}

/** The packages that the lockfile wants on this machine and npm's record of node_modules has not, or has otherwise. */
function missing(root) {
  const record = readText(recordFile(root));
  const installed = record === undefined ? {} : JSON.parse(record).packages;
  const wanted = Object.entries(lockedPackages(root)).filter(
    ([name, entry]) => name.includes('node_modules/') && forThisMachine(entry),
  );
  const lacking = wanted.filter(([name, entry]) => {
    const found = installed[name];
    // What an optional package needs may be left out with it.
    if (found === undefined) return !(entry.optional === true && entry.os === undefined && entry.cpu === undefined);
    return found.version !== entry.version || found.integrity !== entry.integrity;
  });
  return lacking.map(([name]) => name.replace(/^.*node_modules\//, ''));
}

function lockedPackages(root) {
  return JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
}

/** npm's environment: it leaves out optional packages that its own Node cannot run, but ours is the one that runs them. */
function forOurNode(root) {
  const ours = lockedPackages(root)[`node_modules/node-${process.platform}-${process.arch}`]?.version;
  if (ours === undefined || libc() !== 'glibc') return process.env;
  const preload = `--require "${asOurNode.replace(/["\\]/g, '\\$&')}"`;
  const options = [process.env.NODE_OPTIONS, preload].filter(Boolean).join(' ');
  return { ...process.env, NODE_OPTIONS: options, PLATFORM_SETUP_NODE_VERSION: `v${ours}` };
}

function forThisMachine({ os, cpu, libc: wantedLibc }) {
  return allows(os, process.platform) && allows(cpu, process.arch) && allows(wantedLibc, libc());
}

function allows(list, value) {
  return list === undefined || [list].flat().includes(value);
}

/** The npm that runs us, else the one on the path. */
function npmCommand() {
  const script = process.env.npm_execpath;
  // Not our own executable: that may be the Node in node_modules, which the install removes.
  const node = process.env.npm_node_execpath;
  if (script?.endsWith('npm-cli.js') && node !== undefined && fs.existsSync(script) && fs.existsSync(node)) {
    return [node, script];
  }
  return ['npm'];
}

function explain({ code, signal, said }, root) {
  const npmCode = /npm (?:ERR!|error) code (\S+)/.exec(said)?.[1] ?? '';
  if (signal !== null) return `npm ci was killed by ${signal}.`;
  if (networkCodes.test(npmCode)) {
    return `npm could not reach its registry (${npmCode}): check the network and npm's proxy settings, then try again.`;
  }
  if (certificateCodes.test(npmCode)) {
    return `npm does not trust the certificate of its registry (${npmCode}): check the clock of this machine. Behind a proxy that opens TLS connections, set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority. Then try again.`;
  }
  if (npmCode === 'EACCES' || npmCode === 'EPERM') {
    return `npm may not write in ${path.join(root, 'node_modules')} (${npmCode}): remove that folder as its owner, then try again.`;
  }
  if (npmCode === 'ENOSPC') return 'The disk is full: free about 600 MiB, then try again.';
  const words = said
    .split('\n')
    .map((line) => /^npm (?:ERR!|error) (?!code )(.+)$/.exec(line.trim())?.[1])
    .filter((line) => line !== undefined && !/^(errno |A complete log of this run|\s*\/.*\.log$)/.test(line));
  return `npm ci failed (${npmCode || `exit code ${code}`}): ${words.slice(0, 3).join(' ') || said.trim().slice(-300)}`;
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
