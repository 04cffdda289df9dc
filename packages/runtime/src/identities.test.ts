// Two apps never share a user, not even one after the other.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openIdentities, takenIds } from './identities.ts';

const folder = mkdtempSync(join(tmpdir(), 'pt-ids-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('an installation keeps its user over restarts, and every other gets another', () => {
  const file = join(folder, 'keep.json');
  const first = openIdentities(file);
  const a = first.idOf('a');
  const b = first.idOf('b');
  assert.notEqual(a, b);
  assert.ok(a >= 30_000 && b >= 30_000);
  const second = openIdentities(file);
  assert.equal(second.idOf('b'), b);
  assert.equal(second.idOf('a'), a);
  assert.ok(![a, b].includes(second.idOf('c')));
});

test('no installation gets the id of a user of this machine, or of the database', () => {
  const usual = openIdentities(join(folder, 'usual.json')).idOf('a');
  const identities = openIdentities(join(folder, 'taken.json'), new Set([usual, usual + 1, usual + 3]));
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => identities.idOf(id)),
    [usual + 2, usual + 4, usual + 5],
  );
  const data = join(folder, 'postgres', 'data');
  mkdirSync(data, { recursive: true });
  const taken = takenIds(folder);
  assert.ok(taken.has(statSync(data).uid) && taken.has(0) && !taken.has(Number.NaN));
});

for (const [name, content] of [
  ['cut short', '{"base":2000000,"next":20'],
  ['empty', ''],
  ['with one user for two apps', '{"base":2000000,"next":2000002,"byInstallation":{"a":2000000,"b":2000000}}'],
  ['with a user that is to be given next', '{"base":2000000,"next":2000000,"byInstallation":{"a":2000000}}'],
] as const) {
  test(`a file ${name} stops the start instead of giving away files of another app`, () => {
    const file = join(folder, 'damaged.json');
    writeFileSync(file, content);
    assert.throws(() => openIdentities(file), /damaged/);
    assert.equal(readFileSync(file, 'utf8'), content);
  });
}

test('a missing file is no first use where files have owners', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'platform-identities-')), 'identities.json');
  assert.throws(() => openIdentities(file, new Set(), () => false), /is missing. Restore it/);
  assert.ok(openIdentities(file, new Set(), () => true).idOf('inst-one') > 0);
  assert.ok(openIdentities(file, new Set(), () => false).idOf('inst-one') > 0);
});
