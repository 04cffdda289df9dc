// Finds the Node 24 that runs everything after the set-up: the one that npm brought, else the host's.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { SetupError } from './progress.mjs';

const wantedMajor = 24;

/**
 * @param {string} root
 * @returns {string} the executable's path
 * @throws {SetupError} when there is none for this machine
 */
export function findNode(root) {
  const brought = path.join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (libc() === 'glibc' && fs.existsSync(brought)) return brought;
  if (Number(process.versions.node.split('.')[0]) >= wantedMajor) return process.execPath;
  throw new SetupError(
    `npm brings Node ${wantedMajor} only for Linux with glibc on x64 and arm64, not for this machine (${process.platform} ${process.arch} ${libc()}): install Node ${wantedMajor} yourself, then try again.`,
  );
}

/** The kind of C library: `glibc`, `musl`, or empty outside Linux. */
export function libc() {
  if (process.platform !== 'linux') return '';
  // By the loader's file, since Node's own report takes long: it looks up every network address.
  const loaders = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'];
  if (loaders.some((file) => fs.existsSync(file))) return 'glibc';
  return fs.existsSync('/lib') && fs.readdirSync('/lib').some((name) => name.startsWith('ld-musl-')) ? 'musl' : 'glibc';
}
