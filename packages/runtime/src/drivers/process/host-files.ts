// Files of the Runtime that every sandbox shares: Node itself, the bootstrap, what runs executables, a bare /etc, the system call filter.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../atomic-file.ts';
import { modes } from '../../modes.ts';
import { etcFiles, etcFolders } from './layout.ts';
import { resolverText } from './resolver-file.ts';
import { seccompFilter } from './seccomp.ts';

export interface HostFiles {
  readonly node: string;
  readonly bootstrap: string;
  /** Starts a workload that is an executable. */
  readonly runner: string;
  readonly init: string;
  readonly etc: string;
  readonly stage: string;
  /** The compiled filter, or undefined on a processor it is not made for. */
  readonly filter: string | undefined;
  /** A package folder with a workload that looks around and ends. */
  readonly probe: string;
  /** Private to the Runtime: sockets for the moment between their making and their handing over. */
  readonly run: string;
}

const ETC: Readonly<Record<string, string>> = {
  passwd:
    'root:x:0:0:root:/:/usr/sbin/nologin\nworkload:x:1000:1000:workload:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  group: 'root:x:0:\nworkload:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost workload\n',
  hostname: 'workload\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  'resolv.conf': resolverText([]),
};

/**
 * Prepares the shared files below the data folder. As root, Node is linked or copied there too, because its own place
 * may lie in a folder that only root can enter.
 * @param dataDirectory Absolute. As root, every folder above must be enterable by others.
 */
export function prepareHostFiles(dataDirectory: string, node: string = process.execPath): HostFiles {
  const base = join(dataDirectory, 'runtime');
  makeFolder(base, modes.passage);
  const etc = join(base, 'etc');
  makeFolder(etc, modes.given);
  for (const [name, content] of Object.entries(ETC)) place(join(etc, name), content);
  // Mount points for what is taken from the host.
  for (const name of etcFolders) makeFolder(join(etc, name), modes.given);
  for (const name of etcFiles) {
    makeFolder(dirname(join(etc, name)), modes.given);
    place(join(etc, name), '');
  }
  const stage = join(base, 'stage');
  makeFolder(stage, modes.given);
  const probe = join(base, 'probe');
  makeFolder(probe, modes.given);
  place(join(probe, 'probe.mjs'), ownSource('probe-workload.mjs'));
  place(join(base, 'bootstrap.mjs'), ownSource('bootstrap.mjs'));
  place(join(base, 'run-executable.mjs'), ownSource('run-executable.mjs'));
  place(join(base, 'init.sh'), ownSource('init.sh'));
  const filter = seccompFilter();
  if (filter !== undefined) place(join(base, 'filter.bpf'), filter);
  const run = join(dataDirectory, 'run');
  makeFolder(run, 0o700);
  return {
    node: process.getuid?.() === 0 ? reachableNode(node, join(base, 'node')) : node,
    bootstrap: join(base, 'bootstrap.mjs'),
    runner: join(base, 'run-executable.mjs'),
    init: join(base, 'init.sh'),
    etc,
    stage,
    filter: filter === undefined ? undefined : join(base, 'filter.bpf'),
    probe,
    run,
  };
}

/** Sockets that a Runtime was making when it was killed. Only for the one Runtime that owns the data folder. */
export function removeStaleSockets(run: string): void {
  for (const name of readdirSync(run)) if (name.endsWith('.sock')) rmSync(join(run, name), { force: true });
}

function ownSource(name: string): Buffer {
  return readFileSync(new URL(name, import.meta.url));
}

function makeFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, mode);
}

function place(file: string, content: string | Buffer): void {
  const wanted = Buffer.from(content);
  if (!existsSync(file) || !readFileSync(file).equals(wanted)) writeFileAtomically(file, wanted, modes.givenFile);
  chmodSync(file, modes.givenFile);
}

/** A link shares the memory of the program with the platform's own Node; a copy is made where links cannot reach. */
function reachableNode(source: string, target: string): string {
  const from = statSync(source);
  if (existsSync(target)) {
    const there = statSync(target);
    const same = there.ino === from.ino && there.dev === from.dev;
    if (same || (there.size === from.size && Math.abs(there.mtimeMs - from.mtimeMs) < 2)) return target;
  }
  const temporary = `${target}.new`;
  rmSync(temporary, { force: true });
  const openToAll = (from.mode & 0o005) === 0o005;
  try {
    if (!openToAll) throw new Error('its permissions do not allow a link');
    linkSync(source, temporary);
  } catch {
    // Another file system, or links are not allowed here. If the folder is not writable at all, the copy throws.
    copyFileSync(source, temporary);
    chmodSync(temporary, 0o755);
    utimesSync(temporary, from.atime, from.mtime);
  }
  renameSync(temporary, target);
  return target;
}
