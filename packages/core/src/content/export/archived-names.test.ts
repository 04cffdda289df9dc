// Names of files in an archive: whatever a file is called, it unpacks on any disk, beside all others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArchivedNames } from './archived-names.ts';

const CASES: readonly (readonly [name: string, archived: string])[] = [
  ['photo.jpg', 'photo.jpg'],
  ['Übersicht 2026.pdf', 'Übersicht 2026.pdf'],
  ['日本語', '日本語'],
  ['a:b?.txt', 'a%3Ab%3F.txt'],
  ['<script>|"*', '%3Cscript%3E%7C%22%2A'],
  ['100%.txt', '100%25.txt'],
  ['.bashrc', '%2Ebashrc'],
  ['..', '%2E%2E'],
  ['report. .', 'report%2E%20%2E'],
  ['CON', '%43ON'],
  ['nul.tar.gz', '%6Eul.tar.gz'],
  ['console', 'console'],
  ['../etc/passwd', '%2E%2E%2Fetc%2Fpasswd'],
  ['gnp.\u202Eexe', 'gnp.%E2%80%AEexe'],
];

for (const [name, archived] of CASES)
  test(`${JSON.stringify(name)} is ${archived} in an archive`, () => {
    assert.equal(new ArchivedNames().take(name), archived);
  });

test('names that are one on some disks get numbers', () => {
  const names = new ArchivedNames();
  const asked = ['a.txt', 'A.txt', 'a (2).txt', 'a.TXT', 'café', 'cafe\u0301', 'CAFÉ'];
  const taken = asked.map((name) => names.take(name));
  assert.deepEqual(taken, ['a.txt', 'A (2).txt', 'a (2) (2).txt', 'a (3).TXT', 'café', 'cafe\u0301 (2)', 'CAFÉ (3)']);
});

test('a long name keeps its ending, whole characters and 255 bytes at most', () => {
  const names = new ArchivedNames();
  for (const letter of ['x', 'é', '語', '🙂', ':']) {
    const asked = `${letter.repeat(200)}.jpeg`;
    const [first, second] = [names.take(asked), names.take(asked)];
    for (const name of [first, second]) {
      assert.ok(Buffer.byteLength(name) <= 255, name);
      assert.ok(name.isWellFormed() && name.endsWith('.jpeg') && !/%(?![0-9A-F]{2})/.test(name), name);
    }
    assert.notEqual(first, second);
  }
});

test('a thousand files of one name in case variants all have places', () => {
  const names = new ArchivedNames();
  const taken = Array.from({ length: 1_000 }, (_, at) => {
    const bits = (at % 256).toString(2).padStart(8, '0');
    return names.take(
      [...'holidays'].map((letter, place) => (bits[place] === '1' ? letter.toUpperCase() : letter)).join(''),
    );
  });
  assert.equal(new Set(taken.map((name) => name.toLowerCase())).size, 1_000);
});
