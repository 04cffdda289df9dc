// The log of a platform on a terminal: complete, limited, for its owner only, and no reason to stop anything.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { LogFile } from './log-file.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'platform-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const line = (text: string) => Buffer.from(`${text}\n`);

test('what is written before the data folder is known comes first, and a later start adds to the file', (t) => {
  const folder = folderOf(t);
  const first = new LogFile();
  first.write(line('early'));
  const file = first.open(folder);
  first.write(line('late'));
  assert.equal(first.close().length, 0);
  const second = new LogFile();
  second.open(folder);
  second.write(line('again'));
  second.close();
  assert.equal(readFileSync(file, 'utf8'), 'early\nlate\nagain\n');
  assert.equal(statSync(file).mode & 0o077, 0);
});

test('a start that failed before there was a folder gives its words back', () => {
  const log = new LogFile();
  log.write(line('why'));
  assert.equal(log.close().toString(), 'why\n');
});

test('lines of two streams do not mix, however they are cut, and the last one needs no end', async (t) => {
  const log = new LogFile();
  const file = log.open(folderOf(t));
  const [one, other] = [new PassThrough(), new PassThrough()];
  log.follow(one);
  log.follow(other);
  one.write('begin');
  other.write('whole\nhalf');
  one.write('ning\n');
  other.end();
  await once(other, 'end');
  log.close();
  assert.equal(readFileSync(file, 'utf8'), 'whole\nbeginning\nhalf');
});

test('it takes twice its largest size at most, and the newest lines stay', (t) => {
  const log = new LogFile(1_000);
  const file = log.open(folderOf(t));
  for (let count = 0; count < 500; count += 1) log.write(line(`line ${count}`));
  log.close();
  const [now, before] = [file, `${file}.1`].map((name) => readFileSync(name, 'utf8'));
  assert.ok(now !== undefined && before !== undefined && now.length + before.length < 2_200);
  assert.match(before + now, /line 498\nline 499\n$/);
});

test('without its file, as on a full disk, lines are lost and nothing throws; later ones are written again', (t) => {
  const log = new LogFile(10);
  const folder = folderOf(t);
  const file = log.open(folder);
  log.write(line('long enough to begin another file'));
  rmSync(folder, { recursive: true });
  log.write(line('lost'));
  assert.equal(existsSync(file), false);
  mkdirSync(folder);
  log.write(line('kept'));
  log.close();
  assert.equal(readFileSync(file, 'utf8'), 'kept\n');
});
