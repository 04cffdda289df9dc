// Receiving a package whose backend is an executable: what can be one is taken, and the rest named in clear words.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { elf } from '../../../../../tests/support/elf.ts';
import { makeClusterFolder } from '../../../../../tests/support/postgres.ts';
import { archiveOf, type EntryDescription } from '../../../test-support/vector-archives.ts';
import { type VerifiedPackage, verifyPackage } from './verify-package.ts';

const BINARY = { runtime: 'binary', entry: 'server' };
const MANIFEST = { schemaVersion: 9, id: 'compiled', version: '1.0.0', name: 'Compiled', summary: 'An executable' };

function manifestEntry(workload: object = BINARY): EntryDescription {
  return { name: 'manifest.json', type: 'file', content: JSON.stringify({ ...MANIFEST, workload }) };
}

function program(bytes: Buffer, more: Partial<EntryDescription> = {}): EntryDescription {
  return { name: 'workload/server', type: 'file', bytes, ...more };
}

async function verify(t: TestContext, entries: readonly EntryDescription[]): Promise<VerifiedPackage | RefusalError> {
  const folder = makeClusterFolder('executables-');
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const scratch = { blob: path.join(folder, 'package.tgz'), unpacked: path.join(folder, 'unpacked') };
  return verifyPackage(Readable.from([archiveOf({ entries })]), scratch, { system: false }).catch((error: unknown) => {
    if (error instanceof RefusalError) return error;
    throw error;
  });
}

function refusalOf(outcome: VerifiedPackage | RefusalError) {
  assert.ok(outcome instanceof RefusalError, 'it was taken');
  return outcome.refusal;
}

function processorOf(outcome: VerifiedPackage | RefusalError) {
  assert.ok(!(outcome instanceof RefusalError), JSON.stringify(outcome));
  return outcome.manifest.workload?.processor;
}

const binaries: [string, EntryDescription[], RegExp | 'taken'][] = [
  ['that is a static executable', [program(elf({ machine: 'arm64' }))], 'taken'],
  ['that comes before the manifest', [program(elf()), manifestEntry()], 'taken'],
  ['that is setuid, which is dropped', [program(elf(), { mode: '0006755' })], 'taken'],
  [
    'that is missing',
    [program(elf(), { name: 'workload/other' })],
    /^names "server", which is not in workload\/ of the package$/,
  ],
  ['that is a script', [program(Buffer.from('#!/bin/sh\n'))], /^names "server", which is a script/],
  ['that is a folder', [{ name: 'workload/server/', type: 'dir' }], /^names "server", which is not in workload\//],
  ['for another processor', [program(elf({ machine: 'riscv' }))], /another processor/],
  ['that needs a loader', [program(elf({ loader: '/lib/ld-musl-x86_64.so.1' }))], /dynamically, by \/lib\/ld-musl/],
  ['that is empty', [program(Buffer.alloc(0))], /^names "server", which is empty$/],
];
for (const [what, entries, expected] of binaries) {
  test(`an executable ${what} is ${expected === 'taken' ? 'taken' : 'refused'}`, async (t) => {
    const manifest = entries.some(({ name }) => name === 'manifest.json') ? [] : [manifestEntry()];
    const outcome = await verify(t, [...manifest, ...entries]);
    if (expected !== 'taken') {
      const [error] = refusalOf(outcome).errors ?? [];
      assert.equal(error?.path, 'workload.entry');
      assert.match(error?.message ?? '', expected);
    } else assert.match(processorOf(outcome) ?? '', /^(x64|arm64)$/);
  });
}

const links: [string, string, RegExp][] = [
  ['a symbolic link', 'symlink', /a symbolic link/],
  ['a hard link', 'hardlink', /a hard link/],
  ['a pipe', 'fifo', /a pipe/],
];
for (const [what, type, detail] of links) {
  test(`an executable that is ${what} is refused`, async (t) => {
    const entry: EntryDescription = { name: 'workload/server', type, linkname: '/bin/busybox' };
    const outcome = await verify(t, [manifestEntry(), entry]);
    assert.match(refusalOf(outcome).detail ?? '', detail);
  });
}

for (const entry of [
  '../server',
  'bin/../server',
  './server',
  '/bin/busybox',
  'bin//server',
  '.hidden',
  'bin\\server',
]) {
  test(`an executable at ${entry} is refused`, async (t) => {
    const outcome = await verify(t, [manifestEntry({ runtime: 'binary', entry }), program(elf())]);
    assert.deepEqual(
      refusalOf(outcome).errors?.map(({ path }) => path),
      ['workload.entry'],
    );
  });
}

test('the manifest is stored with the processor of the executable, and may not name another one', async (t) => {
  const arm = program(elf({ machine: 'arm64' }));
  assert.equal(processorOf(await verify(t, [arm, manifestEntry()])), 'arm64');
  assert.equal(processorOf(await verify(t, [arm, manifestEntry({ ...BINARY, processor: 'arm64' })])), 'arm64');
  const { errors } = refusalOf(await verify(t, [arm, manifestEntry({ ...BINARY, processor: 'x64' })]));
  assert.deepEqual(errors, [{ path: 'workload.processor', message: 'is x64, but "server" is compiled for arm64' }]);
});

test('a runtime "binary" names an entry and no image, and no other runtime looks at what its files are', async (t) => {
  const faults = async (workload: object) =>
    refusalOf(await verify(t, [manifestEntry(workload), program(elf())])).errors?.map(({ path }) => path);
  assert.deepEqual(await faults({ runtime: 'binary' }), ['workload.entry']);
  assert.deepEqual(await faults({ runtime: 'node', entry: 'server', processor: 'x64' }), ['workload.processor']);
  assert.deepEqual(await faults({ ...BINARY, image: 'registry.example/app@sha256:0' }), ['workload.image']);
  const node = manifestEntry({ runtime: 'node', entry: 'server' });
  assert.equal(processorOf(await verify(t, [node, program(elf())])), undefined);
});
