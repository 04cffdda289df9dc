// What a sealed log gives back: what was appended, all of it or up to a record that a crash tore off, and never anything else.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { fc } from '../../../../tests/support/fast-check.ts';
import { DamagedStoreError, openSealedLog } from './sealed-log.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'sealed-log-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = () => {
  files += 1;
  return path.join(folder, `${files}.log`);
};
const key = randomBytes(32);

/** @returns what a log holds; it is closed again */
async function read(file: string, withKey = key): Promise<string[]> {
  const records: string[] = [];
  const log = await openSealedLog(file, withKey, (record) => records.push(record.toString()));
  await log.close();
  return records;
}

async function write(file: string, records: readonly string[]): Promise<void> {
  const log = await openSealedLog(file, key, () => undefined);
  for (const record of records) await log.append(Buffer.from(record));
  await log.close();
}

test('what was appended is there after it was opened again, and nothing of it is in the file', async () => {
  const file = newFile();
  await write(file, ['one', 'two']);
  await write(file, ['three canary']);
  assert.deepEqual(await read(file), ['one', 'two', 'three canary']);
  assert.equal(readFileSync(file).includes('canary'), false);
});

test('another key opens nothing', async () => {
  const file = newFile();
  await write(file, ['one']);
  await assert.rejects(read(file, randomBytes(32)), DamagedStoreError);
  assert.deepEqual(await read(file), ['one']);
});

test('a record that was torn off at any byte is dropped, those before it are there, and the log goes on', async () => {
  const file = newFile();
  await write(file, ['first', 'second']);
  const begin = readFileSync(file).length;
  await write(file, ['third']);
  const whole = readFileSync(file);
  for (let length = begin; length < whole.length; length += 1) {
    writeFileSync(file, whole.subarray(0, length));
    assert.deepEqual(await read(file), ['first', 'second'], `${length} of ${whole.length} bytes`);
    await write(file, ['another']);
    assert.deepEqual(await read(file), ['first', 'second', 'another']);
  }
});

test('a file that grew before its record was written ends where the record would begin', async () => {
  const file = newFile();
  await write(file, ['first']);
  const before = readFileSync(file);
  writeFileSync(file, Buffer.concat([before, Buffer.alloc(4096)]));
  assert.deepEqual(await read(file), ['first']);
  assert.deepEqual(readFileSync(file), before);
});

test('a last record of which the disk wrote some sectors only is dropped', async () => {
  const file = newFile();
  await write(file, ['first']);
  const begin = readFileSync(file).length;
  await write(file, ['x'.repeat(5_000)]);
  const torn = readFileSync(file);
  const sector = Math.ceil((begin + 600) / 512) * 512;
  torn.fill(0, sector, sector + 512);
  writeFileSync(file, torn);
  assert.deepEqual(await read(file), ['first']);
});

test('a file of which only the begin was made is a new log', async () => {
  const file = newFile();
  await write(file, []);
  const whole = readFileSync(file);
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(file, whole.subarray(0, length));
    assert.deepEqual(await read(file), []);
  }
});

test('a bit that is another one anywhere is refused', async () => {
  const file = newFile();
  await write(file, ['first', 'second', 'third']);
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(file, changed);
    await assert.rejects(read(file), DamagedStoreError, `byte ${at} of ${whole.length}`);
  }
});

test('records that are left out, moved, repeated or of another log are refused', async () => {
  const [file, other] = [newFile(), newFile()];
  const ends: number[] = [];
  for (const record of ['', 'one', 'two', 'end']) {
    await write(file, record === '' ? [] : [record]);
    ends.push(readFileSync(file).length);
  }
  await write(other, ['one', 'two', 'end']);
  const [whole, foreign] = [readFileSync(file), readFileSync(other)];
  const part = (bytes: Buffer, number: number) => bytes.subarray(ends[number - 1], ends[number]);
  const [head, one, two, end] = [whole.subarray(0, ends[0]), part(whole, 1), part(whole, 2), part(whole, 3)];
  for (const order of [
    [head, two, end],
    [head, one, end],
    [head, two, one, end],
    [head, one, one, two, end],
    [head, part(foreign, 1), two, end],
    [head, one, part(foreign, 2), end],
  ]) {
    writeFileSync(file, Buffer.concat(order));
    await assert.rejects(read(file), DamagedStoreError);
  }
});

test('a replacement is all that is there, also after more was appended', async () => {
  const file = newFile();
  const log = await openSealedLog(file, key, () => undefined);
  for (let count = 0; count < 100; count += 1) await log.append(Buffer.from('x'.repeat(100)));
  const before = log.size();
  await log.replace(Buffer.from('all'));
  assert.ok(log.size() < before / 10);
  await log.append(Buffer.from('more'));
  await log.close();
  assert.deepEqual(await read(file), ['all', 'more']);
});

test('whatever is appended, opened again and cut: a log gives a begin of what it was given', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 700 }), { minLength: 1, maxLength: 6 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (records, place) => {
        const file = newFile();
        await write(file, records);
        const whole = readFileSync(file);
        writeFileSync(file, whole.subarray(0, Math.floor(whole.length * place)));
        const left = await read(file);
        assert.deepEqual(left, records.slice(0, left.length));
      },
    ),
  );
});
