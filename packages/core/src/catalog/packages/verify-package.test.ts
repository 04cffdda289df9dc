// Promises of receiving a package: every hostile archive is refused without a trace, every ordinary one is taken.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Manifest, RefusalError } from '@platform/contract';
import tar from 'tar-stream';
import { chunk, png } from '../../../../../tests/support/pictures.ts';
import { makeClusterFolder } from '../../../../../tests/support/postgres.ts';
import { type ArchiveDescription, archiveOf, type EntryDescription } from '../../../test-support/vector-archives.ts';
import { type VerifiedPackage, verifyPackage } from './verify-package.ts';

interface Vector extends ArchiveDescription {
  readonly name: string;
  readonly expected: 'reject' | 'accept' | 'accept-stripped' | 'either';
}

const vectors: { cases: Vector[] } = JSON.parse(
  fs.readFileSync(new URL('../../../test-vectors/package-archives.json', import.meta.url), 'utf8'),
);
const MANIFEST = {
  schemaVersion: 9,
  id: 'vector-app',
  version: '1.0.0',
  name: 'Vector app',
  summary: 'A package out of the vectors',
  frontend: { entry: 'index.html' },
};

/**
 * The vectors put their files at the root, where a package may hold anything (a README, a licence) but where nothing
 * is unpacked. `below` moves all but the manifest into a folder, so that the same cases are tried on what is.
 */
function described(vector: Vector, options: { below?: string; manifest?: object } = {}): ArchiveDescription {
  const manifest = JSON.stringify(options.manifest ?? MANIFEST);
  const entries = vector.entries.map((entry): EntryDescription => {
    const filled = entry.content === '<a valid manifest>' ? { ...entry, content: manifest } : entry;
    return options.below === undefined ? filled : moved(filled, options.below);
  });
  const declaresFrontend = options.below === undefined;
  const extra: EntryDescription[] = declaresFrontend
    ? [{ name: 'frontend/index.html', type: 'file', content: '<p>hi</p>' }]
    : [];
  return { ...vector, entries: [...entries.slice(0, 1), ...extra, ...entries.slice(1)] };
}

function moved(entry: EntryDescription, folder: string): EntryDescription {
  if (entry.name?.toLowerCase() === 'manifest.json' || entry.type === 'pax-global') return entry;
  if (entry.value !== undefined) return { ...entry, value: `${folder}/${entry.value}` };
  if (entry.nameHex !== undefined)
    return { ...entry, nameHex: Buffer.from(`${folder}/`).toString('hex') + entry.nameHex };
  const { name, nameRepeat, namePattern, pax } = entry;
  if (nameRepeat !== undefined) return { ...entry, nameRepeat: nameRepeat.repeat(entry.repeat ?? 1), repeat: 1 };
  return {
    ...entry,
    ...(name === undefined ? {} : { name: `${folder}/${name}` }),
    ...(namePattern === undefined ? {} : { namePattern: `${folder}/${namePattern}` }),
    ...(pax?.path === undefined ? {} : { pax: { ...pax, path: `${folder}/${pax.path}` } }),
  };
}

function scratchOf(t: TestContext) {
  // In memory, where the 20,000 syncs of the largest packages cost nothing.
  const folder = makeClusterFolder('packages-');
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return { folder, blob: path.join(folder, 'package.tgz'), unpacked: path.join(folder, 'unpacked') };
}

async function verify(t: TestContext, upload: Buffer | Readable, pieces = 10_000) {
  const scratch = scratchOf(t);
  const source = Buffer.isBuffer(upload) ? Readable.from(cut(upload, pieces)) : upload;
  const outcome = await verifyPackage(source, scratch, {
    identity: { appId: 'vector-app', version: '1.0.0' },
    system: false,
  }).catch((error: unknown) => error);
  return { scratch, outcome };
}

function* cut(bytes: Buffer, length: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

function refusalOf(outcome: unknown) {
  assert.ok(outcome instanceof RefusalError, `it was taken: ${JSON.stringify(outcome)} ${String(outcome)}`);
  return outcome.refusal;
}

function verifiedOf(outcome: unknown): VerifiedPackage {
  assert.ok(!(outcome instanceof Error), String(outcome));
  return outcome as VerifiedPackage;
}

/** What an independent reader makes of the same bytes. */
async function readByOther(upload: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const extract = tar.extract();
  extract.end(gunzipSync(upload));
  for await (const entry of extract) {
    const parts: Buffer[] = [];
    for await (const part of entry as AsyncIterable<Buffer>) parts.push(part);
    if (entry.header.type === 'file') files.set(entry.header.name, Buffer.concat(parts));
  }
  return files;
}

function filesBelow(folder: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  if (!fs.existsSync(folder)) return files;
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const stat = fs.lstatSync(file);
    assert.equal(stat.mode & 0o7777, entry.isDirectory() ? 0o700 : 0o600, `${file} has our mode`);
    if (entry.isFile()) files.set(path.relative(folder, file), fs.readFileSync(file));
    else assert.ok(entry.isDirectory(), `${file} is a file or folder`);
  }
  return files;
}

for (const below of [undefined, 'frontend', 'workload']) {
  for (const vector of vectors.cases) {
    // `~` means a home folder at the start of a path only.
    if (below !== undefined && vector.name === 'path/home') continue;
    const where = below === undefined ? 'at the root' : `below ${below}/`;
    test(`the archive ${vector.name} ${where}: ${vector.expected}`, async (t) => {
      const workload = { ...MANIFEST, frontend: undefined, workload: { runtime: 'node', entry: 'index.html' } };
      const manifest = below === 'workload' ? workload : MANIFEST;
      const upload = archiveOf(described(vector, { manifest, ...(below === undefined ? {} : { below }) }));
      const { scratch, outcome } = await verify(t, upload);
      assert.deepEqual(
        fs.readdirSync(scratch.folder).filter((name) => name !== 'package.tgz' && name !== 'unpacked'),
        [],
        'nothing is written beside the scratch paths',
      );
      if (vector.expected === 'reject' || outcome instanceof Error) {
        const refused = refusalOf(outcome);
        assert.notEqual(vector.expected, 'accept', `refused: ${refused.detail} ${JSON.stringify(refused.errors)}`);
        assert.notEqual(vector.expected, 'accept-stripped', `refused: ${refused.detail}`);
        assert.equal(refused.code, 'invalid_request');
        return;
      }
      const verified = verifiedOf(outcome);
      assert.equal(verified.hash, createHash('sha256').update(upload).digest('hex'));
      assert.deepEqual(fs.readFileSync(scratch.blob), upload, 'the bytes are stored as uploaded');
      const expected = new Map(
        [...(await readByOther(upload))]
          .filter(([name]) => name.startsWith('frontend/') && !name.includes('/.'))
          .map(([name, bytes]) => [name.slice('frontend/'.length), bytes]),
      );
      assert.deepEqual(filesBelow(path.join(scratch.unpacked, 'frontend')), expected);
      assert.equal(({} as Record<string, unknown>).x, undefined, 'no prototype was changed');
    });
  }
}

test('the same package in pieces of any size is the same package', async (t) => {
  const plain = vectors.cases.find(({ name }) => name === 'benign/nested-dirs');
  assert.ok(plain);
  const upload = archiveOf(described(plain, { below: 'frontend' }));
  const hashes = [];
  for (const pieces of [1, 7, 100, 1_000_000]) {
    const { outcome } = await verify(t, upload, pieces);
    hashes.push(verifiedOf(outcome).hash);
  }
  assert.equal(new Set(hashes).size, 1);
});

test('a package cut at any byte, or with any byte added, is refused', async (t) => {
  const upload = archiveOf({
    entries: [
      { name: 'manifest.json', type: 'file', content: JSON.stringify(MANIFEST) },
      { name: 'frontend/index.html', type: 'file', content: '<p>hi</p>' },
    ],
  });
  for (let length = 0; length < upload.length; length += 1) {
    const { outcome } = await verify(t, upload.subarray(0, length));
    assert.equal(refusalOf(outcome).code, 'invalid_request', `cut at ${length}`);
  }
  for (const extra of [Buffer.alloc(1), Buffer.alloc(512), Buffer.from([0x1f]), Buffer.from('more')]) {
    const { outcome } = await verify(t, Buffer.concat([upload, extra]), 64);
    assert.match(refusalOf(outcome).detail ?? '', /more data after the end of the gzip file/);
  }
  const { outcome } = await verify(t, Buffer.concat([upload, upload]), 64);
  assert.match(refusalOf(outcome).detail ?? '', /more data after its end mark/);
});

const twoMembers = new URL('../../../test-vectors/two-members.tgz', import.meta.url);

test('a package of several gzip members is read as one, however it is cut', async (t) => {
  const upload = fs.readFileSync(twoMembers);
  for (const pieces of [1, 7, 211, 212, 213, 10_000]) {
    const scratch = scratchOf(t);
    const taken = await verifyPackage(Readable.from(cut(upload, pieces)), scratch, { system: false });
    assert.equal(taken.hash, createHash('sha256').update(upload).digest('hex'));
    assert.equal(taken.unpacked, gunzipSync(upload).length);
    assert.deepEqual([...filesBelow(path.join(scratch.unpacked, 'frontend')).keys()], ['index.html']);
  }
});

test('members may begin anywhere and hold nothing; each must be whole', async (t) => {
  const tarBytes = gunzipSync(archiveOf({ entries: [manifestEntry(), index] }));
  const memberLengths = [1, 100, 512, 513, 1_024, 5_000];
  for (const length of memberLengths) {
    const members = [...cut(tarBytes, length)].map((piece) => gzipSync(piece));
    const withEmpty = [gzipSync(''), ...members, gzipSync(''), gzipSync('')];
    for (const pieces of [3, 10_000]) {
      const { scratch, outcome } = await verify(t, Buffer.concat(withEmpty), pieces);
      verifiedOf(outcome);
      assert.deepEqual(filesBelow(path.join(scratch.unpacked, 'frontend')).get('index.html'), Buffer.from('<p>hi</p>'));
    }
  }
  const [first = Buffer.of(), ...others] = [...cut(tarBytes, 700)].map((piece) => gzipSync(piece));
  const damaged = Buffer.from(first);
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 5) ^ 1, damaged.length - 5);
  assert.match(refusalOf((await verify(t, Buffer.concat([damaged, ...others]))).outcome).detail ?? '', /checksum/);
  const between = Buffer.concat([first, Buffer.alloc(4), ...others]);
  assert.match(refusalOf((await verify(t, between)).outcome).detail ?? '', /more data after the end of the gzip file/);
  const joined = Buffer.concat([first, ...others]);
  for (let length = joined.length - 1; length >= joined.length - 40; length -= 1)
    assert.match(
      refusalOf((await verify(t, joined.subarray(0, length))).outcome).detail ?? '',
      /cut short|more data|ends before its end mark/,
    );
});

test('a file of very many members is refused', async (t) => {
  const many = Buffer.concat(Array.from({ length: 40_001 }, () => gzipSync('')));
  assert.match(refusalOf((await verify(t, many, 65_536)).outcome).detail ?? '', /more than 40000 members/);
});

const file = (name: string, content = 'x'): EntryDescription => ({ name, type: 'file', content });
const manifestEntry = (changes: object = {}) => file('manifest.json', JSON.stringify({ ...MANIFEST, ...changes }));
const index = file('frontend/index.html', '<p>hi</p>');

const refusedNames: [string, string][] = [
  ['two current-folder prefixes', '././frontend/a'],
  ['a current-folder prefix before an absolute path', './/frontend/a'],
  ['a current-folder prefix before a parent segment', './../frontend/a'],
  ['a parent segment after a current-folder prefix', './frontend/../a'],
  ['a current-folder prefix before a home folder', './~root/a'],
  ['a current-folder prefix and nothing else', './'],
  ['a double slash', 'frontend//a'],
  ['a trailing slash', 'frontend/a/'],
  ['a dot segment', 'frontend/./a'],
  ['a parent segment inside', 'frontend/b/../a'],
  ['a direction override', 'frontend/\u202Egnp.html'],
  ['a direction isolate', 'frontend/\u2066a'],
  ['a zero-width space', 'frontend/a\u200Bb'],
  ['a byte-order mark', 'frontend/\uFEFFa'],
  ['a C1 control', 'frontend/a\u0085b'],
  ['a line separator', 'frontend/a\u2028b'],
  ['full-width dots', 'frontend/．．/a'],
  ['a full-width slash', 'frontend／../a'],
  ['a one-dot leader', 'frontend/\u2024\u2024/a'],
  ['a trailing dot', 'frontend/a.'],
  ['a trailing space', 'frontend/a '],
  ['a device name with an extension', 'frontend/aux.js'],
  ['a device name with a superscript digit', 'frontend/COM¹.txt'],
  ['a wildcard', 'frontend/*.js'],
  ['a home folder', '~root/a'],
  ['a part of 256 bytes', `frontend/${'a'.repeat(256)}`],
  ['513 bytes in all', `frontend/${'abcdefg/'.repeat(63)}`],
];
for (const [what, name] of refusedNames) {
  test(`a name with ${what} is refused`, async (t) => {
    const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry(), index, file(name)] }));
    const { detail } = refusalOf(outcome);
    assert.doesNotMatch(detail ?? '', /[\p{Cc}\u202E\u2066\u200B]/u, 'the message shows the name escaped');
  });
}

const takenNames = [
  'frontend/日本語.html',
  'frontend/第一章：开始.html',
  'frontend/👩‍💻.txt',
  'frontend/[...slug].js',
  'frontend/a b.txt',
  'frontend/ﬁle.txt',
  'frontend/Wait….txt',
  'README.md',
  'workload/node_modules/@scope/package/index.js',
];
test('names of any language are taken, byte for byte', async (t) => {
  const upload = archiveOf({ entries: [manifestEntry(), index, ...takenNames.map((name) => file(name))] });
  const { scratch, outcome } = await verify(t, upload);
  verifiedOf(outcome);
  const expected = takenNames.filter((name) => name.startsWith('frontend/')).map((name) => name.slice(9));
  assert.deepEqual(
    [...filesBelow(path.join(scratch.unpacked, 'frontend')).keys()].sort(),
    [...expected, 'index.html'].sort(),
  );
});

const collisions: [string, string, string][] = [
  ['composed and decomposed letters', 'frontend/\u00E9', 'frontend/e\u0301'],
  ['a final and an inner sigma', 'frontend/ΟΔΟΣ', 'frontend/οδος'],
  ['a capital sharp s', 'frontend/STRAẞE', 'frontend/strasse'],
  ['the Kelvin sign', 'frontend/\u212A', 'frontend/k'],
  ['a file and a folder', 'frontend/a', 'frontend/a/b'],
  ['a folder and then a file', 'frontend/a/b', 'frontend/a'],
  ['a current-folder prefix', 'frontend/a', './frontend/a'],
  ['folders in two spellings', 'frontend/A/b', 'frontend/a/c'],
];
for (const [what, one, other] of collisions) {
  test(`two names that differ by ${what} are refused`, async (t) => {
    const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry(), index, file(one), file(other)] }));
    assert.match(refusalOf(outcome).detail ?? '', /which are one file/);
  });
}

test('a manifest that names a member twice is refused', async (t) => {
  const text = JSON.stringify(MANIFEST).replace('{', '{"name":"Another",');
  const { outcome } = await verify(t, archiveOf({ entries: [file('manifest.json', text), index] }));
  assert.match(refusalOf(outcome).detail ?? '', /names a member twice/);
});

test('the packed folder may be named once, as a folder', async (t) => {
  const root: EntryDescription = { name: './', type: 'dir' };
  const prefixed = [file('./manifest.json', JSON.stringify(MANIFEST)), file('./frontend/index.html')];
  verifiedOf((await verify(t, archiveOf({ entries: [root, ...prefixed] }))).outcome);
  verifiedOf((await verify(t, archiveOf({ entries: [{ ...root, name: '.' }, ...prefixed] }))).outcome);
  const twice = await verify(t, archiveOf({ entries: [root, ...prefixed, root] }));
  assert.match(refusalOf(twice.outcome).detail ?? '', /twice/);
});

/** The options of `tar -c` that GNU tar and bsdtar differ by, and those that make GNU tar write what bsdtar does. */
const packers: [string, string[]][] = [
  ['by default', []],
  ['in the pax format, with times and attributes in extended headers', ['--format=pax']],
  ['in the ustar format', ['--format=ustar']],
];
for (const [how, options] of packers) {
  test(`a folder packed with "tar -czf app.tgz ." ${how} is taken`, async (t) => {
    const app = makeClusterFolder('packed-');
    t.after(() => fs.rmSync(app, { recursive: true, force: true }));
    const long = `frontend/${'folder-'.repeat(12)}/${'page-'.repeat(14)}.html`;
    for (const [name, content] of [
      ['manifest.json', JSON.stringify(MANIFEST)],
      ['frontend/index.html', '<p>hi</p>'],
      [long, '<p>long</p>'],
    ] as const) {
      fs.mkdirSync(path.dirname(path.join(app, name)), { recursive: true });
      fs.writeFileSync(path.join(app, name), content);
    }
    const upload = execFileSync('tar', ['-cz', ...options, '-C', app, '.'], { maxBuffer: 1 << 20 });
    const { scratch, outcome } = await verify(t, upload);
    assert.equal(verifiedOf(outcome).manifest.id, 'vector-app');
    assert.deepEqual(
      [...filesBelow(path.join(scratch.unpacked, 'frontend')).keys()].sort(),
      [long.slice('frontend/'.length), 'index.html'].sort(),
    );
  });
}

test('a folder packed by bsdtar, with its extended headers and AppleDouble files, is taken', async (t) => {
  const bsdtar = (name: string, content: string): EntryDescription => ({
    ...file(name, content),
    pax: { 'LIBARCHIVE.creationtime': '1700000000.5', 'SCHILY.dev': '16777220', mtime: '1700000000.5', path: name },
  });
  const entries = [
    { name: './', type: 'dir', pax: { 'LIBARCHIVE.creationtime': '1700000000.5', 'SCHILY.ino': '2' } },
    bsdtar('./._manifest.json', 'x'),
    bsdtar('./manifest.json', JSON.stringify(MANIFEST)),
    { name: './frontend/', type: 'dir', pax: { ctime: '1700000000.5' } },
    bsdtar('./frontend/._index.html', 'x'),
    bsdtar('./frontend/index.html', '<p>hi</p>'),
  ];
  const { scratch, outcome } = await verify(t, archiveOf({ entries }));
  verifiedOf(outcome);
  assert.deepEqual([...filesBelow(path.join(scratch.unpacked, 'frontend')).keys()], ['index.html']);
});

const manifests: [string, object, string][] = [
  ['another id', { id: 'other-app' }, 'id'],
  ['another version', { version: '1.0.1' }, 'version'],
  ['system roles', { systemRoles: ['launcher'] }, 'systemRoles'],
  ['an entry that is not there', { frontend: { entry: 'missing.html' } }, 'frontend.entry'],
  ['an entry in another spelling', { frontend: { entry: 'Index.html' } }, 'frontend.entry'],
  ['an entry that is a folder', { frontend: { entry: 'folder' } }, 'frontend.entry'],
  ['an icon that is not there', { icon: 'icon.png' }, 'icon'],
  ['an icon that is no image', { icon: 'index.html' }, 'icon'],
  ['changes that are blank', { changes: ' \n ' }, 'changes'],
  ['changes with a control character', { changes: 'New\u0007' }, 'changes'],
  ['changes that turn the reading direction', { changes: 'safe\u202eelif' }, 'changes'],
  ['changes that are too long', { changes: 'a'.repeat(2_001) }, 'changes'],
  ['NUL in what editors read', { $schema: 'a\u0000b' }, '$schema'],
  ['a screenshot that is not there', { screenshots: ['missing.png'] }, 'screenshots[0]'],
  ['a screenshot outside frontend/', { screenshots: ['../workload/a.png'] }, 'screenshots[0]'],
  ['a screenshot below the root', { screenshots: ['/etc/passwd'] }, 'screenshots[0]'],
  ['a screenshot that is no image', { screenshots: ['index.html'] }, 'screenshots[0]'],
  ['a screenshot that is named twice', { screenshots: ['index.html', 'index.html'] }, 'screenshots'],
  ['six screenshots', { screenshots: ['1', '2', '3', '4', '5', '6'] }, 'screenshots'],
  ['a workload without its file', { workload: { runtime: 'node', entry: 'main.js' } }, 'workload.entry'],
  ['a name with NUL', { name: 'a\u0000b' }, 'name'],
  ['half of a surrogate pair in its name', { name: 'a\ud83db' }, 'name'],
  ['a summary that turns the reading direction', { summary: 'a\u202eb' }, 'summary'],
  ['a summary of two lines', { summary: 'a\u2028b' }, 'summary'],
  ['an unknown member', { extra: 1 }, ''],
];
for (const [what, changes, member] of manifests) {
  test(`a manifest with ${what} is refused and the member is named`, async (t) => {
    const folder: EntryDescription = { name: 'frontend/folder/', type: 'dir' };
    const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry(changes), index, folder] }));
    assert.deepEqual(
      refusalOf(outcome).errors?.map((error) => error.path),
      [member],
    );
  });
}

test('what is new is kept with its line breaks', async (t) => {
  const changes = ' - Tags\r\n- Faster search \n';
  const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry({ changes }), index] }));
  assert.equal((verifiedOf(outcome).manifest as Manifest).changes, '- Tags\n- Faster search');
});

const scripted = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const animated = Buffer.concat([png(64, 64).subarray(0, 33), chunk('acTL', Buffer.alloc(8)), png(64, 64).subarray(33)]);
const pictures: [string, Buffer, RegExp | null][] = [
  ['PNG', png(1_280, 800), null],
  ['PNG of the largest size', png(4_096, 4_096), null],
  ['PNG of 10,000 x 10,000 pixels', png(10_000, 10_000), /10000 × 10000 pixels/],
  ['PNG that is too wide', png(4_097, 1), /4097 × 1 pixels/],
  ['PNG without pixels', png(0, 800), /is not a PNG/],
  ['PNG that is animated', animated, /is animated/],
  ['PNG of more than 1 MiB', png(100, 100, 1_048_577), /larger than 1 MiB/],
  ['PNG that ends in its header', png(1_280, 800).subarray(0, 20), /is not a PNG/],
  ['SVG with a script', scripted, /is not a PNG/],
  ['page', Buffer.from('<!doctype html><script>alert(1)</script>'), /is not a PNG/],
];
for (const [what, bytes, fault] of pictures) {
  test(`a ${what} as a screenshot is ${fault === null ? 'taken' : 'refused'}, whatever it is called`, async (t) => {
    const shot: EntryDescription = { name: 'frontend/shot.png', type: 'file', bytes };
    const { outcome } = await verify(
      t,
      archiveOf({ entries: [manifestEntry({ screenshots: ['shot.png'] }), index, shot] }),
    );
    if (fault === null) verifiedOf(outcome);
    else
      assert.match(refusalOf(outcome).errors?.find((error) => error.path === 'screenshots[0]')?.message ?? '', fault);
  });
}

const bomb = (levels: number) => {
  const groups = Array.from(
    { length: levels },
    (_, level) => `<g id="l${level + 1}">${`<use href="#l${level}"/>`.repeat(10)}</g>`,
  );
  const content = `<circle id="l0" r="5"/>${groups.join('')}`;
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`);
};
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const icons: [string, Buffer, RegExp | null][] = [
  ['PNG of the largest size', png(1_024, 1_024), null],
  ['PNG of 20,000 x 20,000 pixels', png(20_000, 20_000), /20000 × 20000 pixels\. At most 1,024 × 1,024/],
  ['PNG of more than 256 KiB', png(100, 100, 262_145), /larger than 256 KiB/],
  ['PNG that ends in its header', png(64, 64).subarray(0, 20), /is not a PNG/],
  ['PNG that is animated', animated, /is animated/],
  ['SVG', bomb(2), null],
  ['SVG that is drawn elsewhere', bomb(9), null],
  ['SVG of more than 256 KiB', Buffer.concat([bomb(1), Buffer.alloc(262_145, ' ')]), /larger than 256 KiB/],
  [
    'SVG with a public doctype',
    Buffer.from(`<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD [SVG] 1.1//EN" 'x'>\n${SVG}`),
    null,
  ],
  [
    'SVG in single quotes',
    Buffer.from("\uFEFF<!-- <svg> --><svg\n width='1' xmlns = 'http://www.w3.org/2000/svg'/>"),
    null,
  ],
  ['SVG without a namespace', Buffer.from('<svg width="8" height="8"><rect/></svg>'), /lacks xmlns="http:.*Add it, or/],
  ['SVG of another namespace', Buffer.from('<svg xmlns="http://www.w3.org/1999/xhtml"/>'), /lacks xmlns="http/],
  ['SVG with a namespace of others', Buffer.from('<svg xmlns:xlink="http://www.w3.org/2000/svg"/>'), /lacks xmlns=/],
  ['SVG whose part has the namespace', Buffer.from(`<svg data-xmlns="x">${SVG}</svg>`), /lacks xmlns=/],
  ['SVG with an entity', Buffer.from(`<!DOCTYPE svg [<!ENTITY a "red">]>${SVG}`), /internal DTD .*Remove it/],
  [
    'SVG of Illustrator',
    Buffer.from(
      `<?xml version="1.0"?><!-- AI -->\n<!DOCTYPE svg PUBLIC "a>" "b" [\n<!ENTITY ns_svg "c">\n]>\n<svg xmlns="&ns_svg;"/>`,
    ),
    /internal DTD/,
  ],
  ['page', Buffer.from('<!doctype html><script>alert(1)</script>'), /is not a PNG, JPEG, WebP or SVG/],
];
for (const [what, bytes, fault] of icons) {
  test(`a ${what} as an icon is ${fault === null ? 'taken' : 'refused'}, whatever it is called`, async (t) => {
    const icon: EntryDescription = { name: 'frontend/icon.png', type: 'file', bytes };
    const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry({ icon: 'icon.png' }), index, icon] }));
    if (fault === null) verifiedOf(outcome);
    else assert.match(refusalOf(outcome).errors?.find((error) => error.path === 'icon')?.message ?? '', fault);
  });
}

test('all errors of a manifest are reported at once', async (t) => {
  const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry({ name: '', summary: 7 }), index] }));
  assert.deepEqual(
    refusalOf(outcome)
      .errors?.map((error) => error.path)
      .sort(),
    ['name', 'summary'],
  );
});

test('a manifest over its limit, in broken UTF-8 or in broken JSON is refused', async (t) => {
  const large = file('manifest.json', JSON.stringify(MANIFEST) + ' '.repeat(256 * 1024));
  const broken: EntryDescription = { name: 'manifest.json', type: 'file', bytes: Buffer.from([0x22, 0xff, 0x22]) };
  for (const entry of [large, broken, file('manifest.json', '{')]) {
    const { outcome } = await verify(t, archiveOf({ entries: [entry, index] }));
    assert.match(refusalOf(outcome).detail ?? '', /manifest\.json/);
  }
});

test('a backend that runs as a container image needs no file of the package', async (t) => {
  const changes = { workload: { runtime: 'oci', image: 'registry.example/app@sha256:0' } };
  const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry(changes), index] }));
  assert.equal((verifiedOf(outcome).manifest as Manifest).workload?.runtime, 'oci');
});

test('dotfiles stay in the archive, except what is well known', async (t) => {
  const dotfiles = ['.env', '.git/config', 'a/.b/c', '.well-known/.hidden', 'a/.well-known/c'];
  const names = ['.well-known/assetlinks.json', ...dotfiles].map((name) => file(`frontend/${name}`));
  const { scratch, outcome } = await verify(t, archiveOf({ entries: [manifestEntry(), index, ...names] }));
  verifiedOf(outcome);
  const unpacked = [...filesBelow(path.join(scratch.unpacked, 'frontend')).keys()].sort();
  assert.deepEqual(unpacked, ['.well-known/assetlinks.json', 'index.html']);
});

test('20,000 files and folders are taken, one more is refused', async (t) => {
  const files = (count: number): EntryDescription => ({
    namePattern: 'workload/%06d',
    type: 'file',
    content: '',
    count,
  });
  // manifest.json, frontend, frontend/index.html and workload are four of them.
  const most = await verify(t, archiveOf({ entries: [manifestEntry(), index, files(19_996)] }), 1e6);
  verifiedOf(most.outcome);
  const more = await verify(t, archiveOf({ entries: [manifestEntry(), index, files(19_997)] }), 1e6);
  assert.match(refusalOf(more.outcome).detail ?? '', /more than 20000 files and folders/);
});

test('folders that only paths name are counted too', async (t) => {
  const deep = Array.from({ length: 100 }, (_, index) => file(`workload/${index}/${'a/'.repeat(240)}b`));
  const { outcome } = await verify(t, archiveOf({ entries: [manifestEntry(), index, ...deep] }), 1e6);
  assert.match(refusalOf(outcome).detail ?? '', /more than 20000 files and folders/);
});
