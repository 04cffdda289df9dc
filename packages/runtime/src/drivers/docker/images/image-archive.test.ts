// Layers that take more than they say, and ordinary ones, which the engine gets as they were.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '@platform/contract';
import { pack } from 'tar-stream';
import { rawEntry, tarOf } from '../../../../test-support/raw-tar.ts';
import { checkImageArchive, eachEntry, processor } from './image-archive.ts';
import { ImageArchiveError } from './image-archive-error.ts';
import { rewriteLayer } from './layer.ts';

const MiB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'layers-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const digest = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

interface Layer {
  readonly plain: Buffer;
  /** Default: as it is. */
  readonly packed?: Buffer;
}

/** As `docker save` writes it. @param named the layers by number, lowest first; default: each once */
async function archiveOf(layers: readonly Layer[], named = layers.map((_, index) => index)): Promise<string> {
  const config = {
    ...{ os: 'linux', architecture: processor(), config: {} },
    rootfs: { type: 'layers', diff_ids: named.map((index) => digest(layers[index]?.plain ?? Buffer.alloc(0))) },
  };
  const list = [{ Config: 'config.json', RepoTags: null, Layers: named.map((index) => `${index}/layer.tar`) }];
  files += 1;
  const file = join(folder, `image-${files}.tar`);
  writeFileSync(
    file,
    await tarOf([
      ['manifest.json', Buffer.from(JSON.stringify(list))],
      ['config.json', Buffer.from(JSON.stringify(config))],
      ...layers.map(({ plain, packed = plain }, index) => [`${index}/layer.tar`, packed] as const),
    ]),
  );
  return file;
}

/** The layer as the engine gets it. */
async function rewritten(pieces: Iterable<Buffer>): Promise<Buffer> {
  const target = pack();
  const work = rewriteLayer(Readable.from(pieces), target, { read: () => undefined, entry: () => undefined });
  work.then(
    () => target.finalize(),
    (error: Error) => target.destroy(error),
  );
  return buffer(target);
}

const refuses = async (file: Promise<string>, why: RegExp) =>
  assert.rejects(
    checkImageArchive(await file),
    (error) => error instanceof ImageArchiveError && why.test(error.message),
  );

/** A tree, packed by the machine's own tar. */
function packed(make: (root: string) => void, ...options: readonly string[]): Layer {
  const root = mkdtempSync(join(folder, 'tree-'));
  make(root);
  return { plain: execFileSync('tar', ['--create', '--directory', root, ...options, '.'], { maxBuffer: 64 * MiB }) };
}

function holeyFile(root: string): void {
  writeFileSync(join(root, 'disk'), 'begin');
  truncateSync(join(root, 'disk'), 64 * 1024 * MiB);
}

describe('a layer that takes more than it says is refused:', () => {
  for (const [name, options] of Object.entries({
    'GNU sparse files': ['--format=gnu'],
    'PAX sparse files 0.0': ['--format=posix', '--sparse-version=0.0'],
    'PAX sparse files 0.1': ['--format=posix', '--sparse-version=0.1'],
    'PAX sparse files 1.0': ['--format=posix', '--sparse-version=1.0'],
  }))
    test(name, async () => {
      const layer = packed(holeyFile, '--sparse', ...options);
      assert.ok(layer.plain.length < MiB, 'a file of 64 GiB in a small layer');
      await refuses(archiveOf([layer]), /is a sparse file|is no file, folder or link/);
      await refuses(archiveOf([{ ...layer, packed: gzipSync(layer.plain) }]), /is a sparse file|is no file, folder/);
    });

  test('entries in what other readers take for the content of a link, a folder or a device', async () => {
    const inner = Buffer.concat([
      rawEntry({ name: 'inner', type: 'file', size: 5 }),
      Buffer.from('inner'.padEnd(512, '\0')),
    ]);
    for (const type of ['link', 'symlink', 'directory', 'fifo', 'character-device'] as const) {
      const plain = Buffer.concat([
        rawEntry({ name: 'outer', type, linkname: 'x', size: inner.length }),
        inner,
        Buffer.alloc(1_024),
      ]);
      await refuses(archiveOf([{ plain }]), /has content without being a file/);
    }
  });

  test('one that is named thirty times counts thirty times', async () => {
    const plain = await tarOf([['zeros', Buffer.alloc(100 * MiB)]]);
    const layer = { plain, packed: gzipSync(plain) };
    assert.ok(layer.packed.length < MiB);
    const few = await checkImageArchive(await archiveOf([layer], Array(10).fill(0)));
    assert.equal(few.layers.length, 10);
    assert.ok(few.layers.every(({ diskBytes }) => diskBytes >= 100 * MiB && diskBytes < 101 * MiB));
    await refuses(archiveOf([layer], Array(30).fill(0)), /too large when unpacked/);
  });

  test('several compressed ones count together', async () => {
    const zeros = gzipSync(Buffer.alloc(100 * MiB), { level: 1 });
    const layers = Array.from({ length: 7 }, (_, index) => {
      const head = gzipSync(rawEntry({ name: `zeros-${index}`, type: 'file', size: 300 * MiB }));
      // Parts of a gzip file follow each other. None is read to the end.
      return { plain: Buffer.alloc(0), packed: Buffer.concat([head, zeros, zeros, zeros]) };
    });
    await refuses(archiveOf(layers), /too large when unpacked/);
  });

  test('small files and folders by the hundred thousand', async () => {
    const header = (name: string) => rawEntry({ name, type: 'file', size: 0 });
    const many = Buffer.concat(
      Array.from({ length: limits.imageEntries.value + 1 }, (_, index) => header(`f${index}`)),
    );
    await refuses(
      archiveOf([{ plain: many, packed: gzipSync(many, { level: 1 }) }]),
      /more than 200000 files and folders/,
    );
    // Folders without entries of their own, which the engine makes all the same.
    const deep = Buffer.concat(Array.from({ length: 5_000 }, (_, index) => header(`${index}/${'d/'.repeat(45)}f`)));
    await refuses(archiveOf([{ plain: deep }]), /more than 200000 files and folders/);
  });

  test('a path that goes up, and one compressed in another way', async () => {
    const { plain } = packed((root) => writeFileSync(join(root, 'f'), ''), '--transform=s,f,../f,', '--absolute-names');
    await refuses(archiveOf([{ plain }]), /path goes up/);
    for (const program of ['bzip2', 'xz'])
      await refuses(
        archiveOf([{ plain, packed: execFileSync(program, ['--stdout'], { input: plain }) }]),
        new RegExp(`compressed with ${program}, in another way than gzip`),
      );
  });
});

describe('an archive that takes long to read for its size is refused:', () => {
  const MEMBERS = 20;
  const compressed = (head: Buffer, block: Buffer): Promise<string> => {
    files += 1;
    const file = join(folder, `image-${files}.tar`);
    const members = Array<Buffer>(MEMBERS).fill(gzipSync(block));
    writeFileSync(file, Buffer.concat([gzipSync(head), ...members]));
    return Promise.resolve(file);
  };

  test('folders by the hundred thousand', async () => {
    const folders = Array<Buffer>(20_000).fill(rawEntry({ name: 'folder/', type: 'directory', size: 0 }));
    await refuses(compressed(Buffer.alloc(0), Buffer.concat(folders)), /contains too many files/);
  });

  test('empty blocks, also behind a folder that says it has them', async () => {
    const folder = rawEntry({ name: 'folder/', type: 'directory', size: 8 * 1024 * MiB - 1 });
    for (const head of [Buffer.alloc(0), folder])
      await refuses(compressed(head, Buffer.alloc(10 * MiB)), /too large when unpacked/);
  });
});

test('the compression of a layer is told by its first bytes however they come', async () => {
  const { plain } = packed((root) => writeFileSync(join(root, 'file'), 'content'));
  const whole = await rewritten([plain]);
  for (const form of [plain, gzipSync(plain)])
    assert.deepEqual(await rewritten(Array.from(form, (byte) => Buffer.of(byte))), whole);
});

test('an ordinary layer arrives as it was: kinds, modes, owners, times, links and long names', async () => {
  const tree = (root: string) => {
    const long = join(root, ...Array.from({ length: 8 }, (_, index) => `${index}`.repeat(60)));
    mkdirSync(long, { recursive: true });
    writeFileSync(join(long, 'ünïcode-文件'), 'content');
    execFileSync('sh', [
      '-euc',
      `cd "$1"; echo secret >shadow; chmod 0 shadow; echo x >suid; chmod 4755 suid; mkdir sticky; chmod 1777 sticky
      ln shadow hard; ln -s /etc/passwd soft; ln -s "$(printf '%0150d' 0)" longlink; mkfifo pipe; : >empty`,
      'sh',
      root,
    ]);
  };
  const listed = (layer: Buffer) =>
    execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--full-time', '--utc'], { input: layer })
      .toString()
      .trimEnd()
      .split('\n');
  for (const format of ['gnu', 'posix']) {
    const whose = ['--owner=:3000001', '--group=:42', '--mtime=2024-05-06 07:08:09Z'];
    const { plain } = packed(tree, `--format=${format}`, ...whose);
    // The root of the image is the engine's own.
    const before = listed(plain).filter((line) => !line.endsWith(' ./'));
    assert.deepEqual(
      listed(await rewritten([plain])),
      before.map((line) => line.replace(' ./', ' ')),
    );
  }
});

test('devices are left out', async () => {
  const plain = Buffer.concat([
    rawEntry({ name: 'null', type: 'character-device', size: 0 }),
    rawEntry({ name: 'disk', type: 'block-device', size: 0 }),
    rawEntry({ name: 'file', type: 'file', size: 0 }),
    Buffer.alloc(1_024),
  ]);
  const names: string[] = [];
  const file = join(folder, 'devices.tar');
  writeFileSync(file, await rewritten([plain]));
  await eachEntry(file, (entry, name) => {
    names.push(name);
    entry.resume();
  });
  assert.deepEqual(names, ['file']);
});
