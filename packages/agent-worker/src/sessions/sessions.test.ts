// Sessions on the disk: what a crash leaves of them, and what the list shows.
import assert from 'node:assert/strict';
import fs, { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { journalOf } from './card.ts';
import { type Session, titleOf } from './session.ts';
import { openSessionStore } from './session-store.ts';

function volumeOf(t: TestContext): string {
  const volume = mkdtempSync(join(tmpdir(), 'agent-sessions-'));
  t.after(() => rmSync(volume, { recursive: true }));
  return volume;
}

const now = () => new Date('2026-11-28T12:00:00Z');
const say = (session: Session, text: string) =>
  session.append('message', { message: 'm', turn: 't', role: 'user', text }, [
    { role: 'user', content: text, timestamp: 0 },
  ]);

/** What another start finds. */
function reopened(volume: string, id: string): Session {
  return openSessionStore(volume, now).open(id).session;
}

test('a line that a crash cut short is dropped, at every byte, and the next one follows what was whole', (t) => {
  const volume = volumeOf(t);
  const store = openSessionStore(volume, now);
  const { session } = store.create();
  say(session, 'whole');
  const file = journalOf(join(volume, 'sessions'), session.card.id);
  const whole = readFileSync(file);
  say(session, 'töm');
  const both = readFileSync(file);
  for (let length = whole.length; length < both.length; length += 1) {
    writeFileSync(file, both.subarray(0, length));
    const found = reopened(volume, session.card.id);
    assert.deepEqual(
      found.lines.map(({ sequence }) => sequence),
      [1],
    );
    assert.equal(statSync(file).size, whole.length);
    say(found, 'next');
    assert.equal(reopened(volume, session.card.id).lines.length, 2);
  }
});

test('what is no line of this session ends it there', (t) => {
  const volume = volumeOf(t);
  const { session } = openSessionStore(volume, now).create();
  say(session, 'whole');
  const file = journalOf(join(volume, 'sessions'), session.card.id);
  for (const rest of ['{"sequence":7}\n', 'null\n', '[]\n', '\0\0\0\n', '"sequence"\n']) {
    appendFileSync(file, rest);
    assert.equal(reopened(volume, session.card.id).lines.length, 1, rest);
  }
});

test('a card that cannot be read hides its session alone', (t) => {
  const volume = volumeOf(t);
  const store = openSessionStore(volume, now);
  const kept = store.create().session.card.id;
  const broken = store.create().session.card.id;
  for (const content of ['{"id":', 'null', '[]', '', `{"id":"${kept}"}`]) {
    writeFileSync(join(volume, 'sessions', `${broken}.json`), content);
    const found = openSessionStore(volume, now).list();
    assert.deepEqual(
      found.map(({ id }) => id),
      [kept],
      content,
    );
  }
});

test('a session that was deleted does not come back when the last user of it is done', (t) => {
  const volume = volumeOf(t);
  const store = openSessionStore(volume, now);
  const use = store.create();
  const { id } = use.session.card;
  writeFileSync(join(volume, 'sessions', `${id}.json.new`), 'left by a crash');
  let told = false;
  use.session.listen(() => {
    told = use.session.isRemoved;
  });
  store.remove(id);
  assert.ok(told);
  use[Symbol.dispose]();
  assert.deepEqual(store.list(), []);
  assert.deepEqual(readdirSync(join(volume, 'sessions')), []);
});

test('sessions in use are bounded in sum', (t) => {
  const store = openSessionStore(volumeOf(t), now, 1_000);
  const first = store.create();
  say(first.session, 'x'.repeat(600));
  const id = first.session.card.id;
  const second = store.create();
  say(second.session, 'y'.repeat(600));
  store.open(id)[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.throws(() => store.open(id), { code: 'concurrency_limited' });
  second[Symbol.dispose]();
  store.open(id)[Symbol.dispose]();
});

test('a journal that cannot be read is not taken for a new one', (t) => {
  const volume = volumeOf(t);
  const { id } = openSessionStore(volume, now).create().session.card;
  const store = openSessionStore(volume, now);
  const failing = t.mock.method(fs, 'readFileSync', () => {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  });
  syncBuiltinESMExports();
  try {
    assert.throws(() => store.open(id), { code: 'EIO' });
  } finally {
    failing.mock.restore();
    syncBuiltinESMExports();
  }
  store.open(id)[Symbol.dispose]();
});

test('a title is the first line, cut where it is long', () => {
  assert.equal(titleOf('\n  Buy milk \nand eggs'), 'Buy milk');
  assert.equal(titleOf('x'.repeat(100)), `${'x'.repeat(79)}…`);
});
