// What every guest boots: an initramfs with busybox, the kernel's modules and our init, and a read-only root with Node,
// the libraries it needs and a few programs. Made of this machine's own files; nothing is fetched from anywhere.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describeFile, type Images } from './images.ts';
import type { Equipment } from './requirements.ts';

const run = promisify(execFile);

/** In the order of loading in guest/init.sh. */
const MODULES = [
  'drivers/virtio/virtio_ring',
  'drivers/virtio/virtio',
  'drivers/virtio/virtio_mmio',
  'drivers/block/virtio_blk',
  'net/core/failover',
  'drivers/net/net_failover',
  'drivers/net/virtio_net',
  'lib/libcrc32c',
  'fs/erofs/erofs',
];

const FOLDERS = ['app', 'bin', 'dev', 'etc', 'opt/platform/bin', 'proc', 'run', 'tmp', 'usr/local', 'var', 'volume'];
const LINKS: Readonly<Record<string, string>> = {
  // Empty while the only way out is the Gateway.
  'etc/resolv.conf': '../run/resolv.conf',
  'usr/bin': '../bin',
  sbin: 'bin',
  'var/tmp': '../tmp',
};

const FILES: Readonly<Record<string, string>> = {
  'etc/passwd':
    'root:x:0:0:root:/:/bin/false\nworkload:x:1000:1000:workload:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  'etc/group': 'root:x:0:\nworkload:x:1000:\nnogroup:x:65534:\n',
  'etc/hosts': '127.0.0.1 localhost workload\n',
  'etc/hostname': 'workload\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/**
 * The root of all guests. Node is taken from its own place and not from the data folder, whose copy would make the same
 * image another one for each data folder.
 * @returns path of the image.
 */
export async function baseImage(images: Images, { busybox, setpriv }: Equipment): Promise<string> {
  const node = process.execPath;
  const libraries = await closure([node, setpriv]);
  const sources = [node, setpriv, busybox, ...libraries];
  const own = ['guest.mjs', 'bootstrap.mjs', 'run-executable.mjs'].map((name) => ({ name, content: ownSource(name) }));
  const identity = [
    ...sources.map(describeFile),
    ...own.map((one) => one.content),
    JSON.stringify([FOLDERS, LINKS, FILES]),
  ];
  return images.built('base', identity.join('\n'), async (root) => {
    for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
    for (const [link, target] of Object.entries(LINKS)) symlinkSync(target, join(root, link));
    for (const [file, content] of Object.entries(FILES)) writeFileSync(join(root, file), content);
    for (const { name, content } of own) writeFileSync(join(root, 'opt/platform', name), content);
    for (const library of libraries) place(library, join(root, library));
    place(node, join(root, 'opt/platform/bin/node'));
    place(setpriv, join(root, 'bin/setpriv'));
    place(busybox, join(root, 'bin/busybox'));
    const { stdout } = await run(busybox, ['--list']);
    for (const applet of stdout.split('\n').filter((name) => /^[\w.-]+$/.test(name))) {
      if (!existsSync(join(root, 'bin', applet))) symlinkSync('busybox', join(root, 'bin', applet));
    }
  });
}

/** The first process of every guest, as text. */
export function guestInit(): string {
  return ownSource('init.sh');
}

/** What the kernel starts with. @returns path of the file. */
export async function initramfs(
  images: Images,
  { busybox, modules }: Equipment,
  init: string = guestInit(),
): Promise<string> {
  const found =
    modules === undefined
      ? []
      : MODULES.map((name) => join(modules, 'kernel', `${name}.ko`)).filter((path) => existsSync(path));
  const identity = [init, describeFile(busybox), ...found.map(describeFile)].join('\n');
  return images.file('initramfs', identity, async () => {
    const root = mkdtempSync(join(tmpdir(), 'platform-initramfs-'));
    try {
      mkdirSync(join(root, 'bin'));
      mkdirSync(join(root, 'modules'));
      place(busybox, join(root, 'bin/busybox'));
      for (const module of found) place(module, join(root, 'modules', basename(module)));
      writeFileSync(join(root, 'init'), init);
      chmodSync(join(root, 'init'), 0o755);
      const names = ['bin', 'bin/busybox', 'init', 'modules', ...found.map((path) => `modules/${basename(path)}`)];
      return gzipSync(await archive(busybox, root, names), { level: 1 });
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
}

/** The kernel's archive format (cpio, `newc`), everything owned by root. */
async function archive(busybox: string, root: string, names: readonly string[]): Promise<Buffer> {
  const child = spawn(busybox, ['cpio', '-o', '-H', 'newc', '-R', '0:0'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(`${names.join('\n')}\n`);
  const [content, [code]] = await Promise.all([buffer(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`busybox cpio ended with ${code}`);
  return content;
}

/** The shared libraries of programs and the loader, by their paths. */
async function closure(programs: readonly string[]): Promise<string[]> {
  const outputs = await Promise.all(programs.map(async (program) => (await run('ldd', [program])).stdout));
  return [...new Set(outputs.join('\n').match(/(?<=\s)\/\S+/g) ?? [])].sort();
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}

function ownSource(name: string): string {
  const folder = name === 'bootstrap.mjs' || name === 'run-executable.mjs' ? '../process/' : 'guest/';
  return readFileSync(new URL(`${folder}${name}`, import.meta.url), 'utf8');
}
