// Which files can be the executable of a backend, and the words for those that cannot.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becoming, elf, staticBusybox } from '../../../tests/support/elf.ts';
import { checkExecutable, EXECUTABLE_HEAD_BYTES } from './executable.ts';

const head = (file: Uint8Array) => file.subarray(0, EXECUTABLE_HEAD_BYTES);

test('static executables for both processors are taken, position-independent or not', () => {
  assert.deepEqual(checkExecutable(elf({ machine: 'x64' })), { ok: true, processor: 'x64' });
  assert.deepEqual(checkExecutable(elf({ machine: 'arm64' })), { ok: true, processor: 'arm64' });
  assert.deepEqual(checkExecutable(elf({ machine: 'x64', type: 3, system: 3 })), { ok: true, processor: 'x64' });
  assert.equal(checkExecutable(becoming('/bin/sh', [])).ok, true);
});

test('a real static program of this machine is taken, and a program that needs its libraries is not', (t) => {
  const busybox = staticBusybox();
  if (busybox === undefined) return t.skip('busybox-static is not installed');
  const check = checkExecutable(head(busybox));
  assert.deepEqual(check, { ok: true, processor: process.arch });
});

const linked = { loader: '/lib64/ld-linux-x86-64.so.2' };
const refused: [string, Uint8Array, RegExp][] = [
  ['an empty file', Buffer.alloc(0), /^is empty$/],
  ['a script', Buffer.from('#!/bin/sh\necho hi\n'), /^is a script/],
  ['JavaScript', Buffer.from('console.log("hi")\n'), /^is not an executable for Linux \(ELF\)$/],
  ['a program for Windows', Buffer.from('MZ\x90\0'), /^is not an executable for Linux/],
  ['three bytes of the magic', Buffer.from('\x7fEL', 'latin1'), /^is not an executable for Linux/],
  ['a header that is cut short', elf().subarray(0, 63), /^is cut short$/],
  ['a list of segments that is cut short', elf().subarray(0, 100), /^is damaged/],
  ['another processor', elf({ machine: 'riscv' }), /^is built for another processor: .* x86-64 or aarch64$/],
  ['32 bits', elf({ class: 1 }), /^is built for another processor/],
  ['FreeBSD', elf({ system: 9 }), /^is built for another system than Linux$/],
  ['an object file', elf({ type: 1 }), /^is an object file or a library/],
  ['a core dump', elf({ type: 4 }), /^is an object file or a library/],
  ['its own loader', elf(linked), /^is linked dynamically, by \/lib64\/ld-linux-x86-64\.so\.2, and .* statically/],
  ['a loader in the volume', elf({ loader: '/volume/ld.so' }), /^is linked dynamically, by \/volume\/ld\.so,/],
  ['a loader by a path that goes up', elf({ loader: '../../ld.so' }), /^is linked dynamically, and/],
  ['a loader with a hostile name', elf({ loader: '/lib/\u202ee\x1b[2J' }), /^is linked dynamically, and/],
  ['segments beyond what is read', elf({ segmentsAt: EXECUTABLE_HEAD_BYTES }), /^is damaged/],
  ['segments beyond 2^53', elf({ segmentsAt: Number.MAX_SAFE_INTEGER }), /^is damaged/],
  ['segments inside its header', elf({ segmentsAt: 8 }), /^is damaged/],
];
for (const [what, file, fault] of refused) {
  test(`refused with clear words: ${what}`, () => {
    const check = checkExecutable(head(file));
    assert.match(check.ok ? 'taken' : check.fault, fault);
  });
}

test('a library, which has no first instruction, and a file with nothing to load are refused', () => {
  const library = elf({ type: 3 });
  library.writeBigUInt64LE(0n, 24);
  const empty = elf();
  empty.writeUInt32LE(4, 64);
  assert.deepEqual(
    [library, empty].map((file) => checkExecutable(file).ok),
    [false, false],
  );
});

test('no bytes whatever make it throw or take something that is no ELF file', () => {
  const file = elf(linked);
  for (let at = 0; at < file.length; at += 1) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
      const changed = Buffer.from(file);
      changed[at] = value;
      const check = checkExecutable(changed);
      if (check.ok) assert.deepEqual([...changed.subarray(0, 4)], [0x7f, 0x45, 0x4c, 0x46]);
    }
  }
});
