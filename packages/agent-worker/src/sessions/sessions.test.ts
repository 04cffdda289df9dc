// Sessions on the disk: what a crash leaves of them, and what the list shows.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('who listens from the middle of an answer gets what was written of it, once', (t) => {
  const { session } = openSessionStore(volumeOf(t), now).create();
  session.write('m', 't', 'One ');
  const heard: string[] = [];
  const off = session.listen(0, {
    line: ({ event }) => void heard.push(event),
    delta: ({ offset, text }) => void heard.push(`${offset}:${text}`),
  });
  session.write('m', 't', 'two');
  session.append('message', { message: 'm', turn: 't', role: 'assistant', text: 'One two' });
  off();
  session.write('m', 't', 'unheard');
  assert.deepEqual(heard, ['0:One ', '4:two', 'message']);
});

test('a title is the first line, cut where it is long', () => {
  assert.equal(titleOf('\n  Buy milk \nand eggs'), 'Buy milk');
  assert.equal(titleOf('x'.repeat(100)), `${'x'.repeat(79)}…`);
});
