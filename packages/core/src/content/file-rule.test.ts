// The rule of files against a model that tries every way in which an app can come to a file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileAccess } from '@platform/contract';
import fc from 'fast-check';
import { thorough } from '../../../../tests/support/thorough.ts';
import { accessOfApp, type FileAsker, type FileEntry, type FileFacts, type Transfer } from './file-rule.ts';

const runs = { numRuns: thorough(500, 20_000) };
const ACCESSES: readonly FileAccess[] = ['read', 'write', 'manage'];
const account = fc.constantFrom('ada', 'ben', 'cleo');
const app = fc.constantFrom('notes', 'photos', 'files');
const access = fc.constantFrom<FileAccess>(...ACCESSES);
const entry: fc.Arbitrary<FileEntry> = fc.oneof(
  fc.record({ appId: app, accountKey: fc.constant(null), access }),
  fc.record({ appId: fc.constant(null), accountKey: account, access }),
);
const transfer: fc.Arbitrary<Transfer> = fc.record({
  accountKey: account,
  appId: app,
  access: fc.constantFrom<FileAccess>('read', 'write'),
});
const file: fc.Arbitrary<FileFacts> = fc.record({
  accountKey: account,
  appId: fc.option(app),
  entries: fc.array(entry, { maxLength: 4 }),
  transfers: fc.array(transfer, { maxLength: 4 }),
});
const asker: fc.Arbitrary<FileAsker> = fc.record({ accountKey: account, appId: app, manages: fc.boolean() });

/** As the contract says it: whether this one act is allowed, by trying each way to it. */
function modelAllows(one: FileFacts, who: FileAsker, wanted: FileAccess): boolean {
  const enough = (held: FileAccess) => ACCESSES.indexOf(held) >= ACCESSES.indexOf(wanted);
  const personMay =
    (one.appId === null && one.accountKey === who.accountKey) ||
    (one.appId !== null && one.entries.some((each) => each.accountKey === who.accountKey && enough(each.access)));
  if (one.appId === who.appId && one.accountKey === who.accountKey) return true;
  if (who.manages && personMay) return true;
  for (const each of one.entries)
    if (one.appId !== null && one.accountKey === who.accountKey && each.appId === who.appId && enough(each.access))
      return true;
  for (const each of one.transfers)
    if (each.accountKey === who.accountKey && each.appId === who.appId && enough(each.access) && personMay) return true;
  return false;
}

test('an app may exactly what its own, its entries, its transfers and its role allow', () => {
  fc.assert(
    fc.property(file, asker, (one, who) => {
      const held = accessOfApp(one, who);
      const allowed = held === null ? [] : ACCESSES.slice(0, ACCESSES.indexOf(held) + 1);
      assert.deepEqual(
        allowed,
        ACCESSES.filter((wanted) => modelAllows(one, who, wanted)),
      );
    }),
    runs,
  );
});

test('what is private to an app is nobody else’s until it says so, and taking anything away never allows more', () => {
  fc.assert(
    fc.property(file, asker, fc.nat(), (one, who, at) => {
      const rank = (facts: FileFacts, asking = who) =>
        ACCESSES.indexOf(accessOfApp(facts, asking) ?? ('' as FileAccess));
      const closed = { ...one, entries: [] };
      if (one.appId !== null && !(one.appId === who.appId && one.accountKey === who.accountKey))
        assert.equal(accessOfApp(closed, who), null);
      const without = <Item>(items: readonly Item[]) => items.filter((_, n) => n !== at % Math.max(1, items.length));
      assert.ok(rank({ ...one, entries: without(one.entries) }) <= rank(one));
      assert.ok(rank({ ...one, transfers: without(one.transfers) }) <= rank(one));
      assert.ok(rank(one, { ...who, manages: false }) <= rank(one));
    }),
    runs,
  );
});
