// The event stream of a session, for clients that read slowly, not at all, or come in the middle.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Session } from '../sessions/session.ts';
import { openSessionStore, type SessionStore } from '../sessions/session-store.ts';
import { createStreams } from './events.ts';

const now = () => new Date('2026-11-28T12:00:00Z');
const say = (session: Session, message: string) =>
  session.append('message', { message: 'm', turn: 't', role: 'assistant', text: message });

interface World {
  readonly store: SessionStore;
  /** @returns what the client gets, which it has not begun to read */
  open(session: Session, after?: number): Promise<IncomingMessage>;
}

async function startWorld(t: TestContext): Promise<World> {
  const volume = mkdtempSync(join(tmpdir(), 'agent-events-'));
  t.after(() => rmSync(volume, { recursive: true }));
  const store = openSessionStore(volume, now);
  const streams = createStreams(store);
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://agent');
    streams.open(url.pathname.slice(1), request, response, url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  t.after(() => void server.closeAllConnections());
  return {
    store,
    async open({ card }, after) {
      const { port } = server.address() as AddressInfo;
      const sent = http.get({ port, path: `/${card.id}${after === undefined ? '' : `?after=${after}`}`, agent: false });
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return answer;
    },
  };
}

const idsOf = (body: string) => [...body.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
const eventsOf = (body: string) =>
  body
    .split('\n\n')
    .filter((one) => one.includes('data: '))
    .map(
      (one) => JSON.parse(one.slice(one.indexOf('data: ') + 6)) as { readonly text: string; readonly offset?: number },
    );

/** Reads until the session is removed, which ends the stream. */
async function restOf(answer: IncomingMessage, store: SessionStore, session: Session, until: string): Promise<string> {
  let body = '';
  answer.setEncoding('utf8');
  for await (const part of answer as AsyncIterable<string>) {
    const had = body.includes(until);
    body += part;
    if (!had && body.includes(until)) store.remove(session.card.id);
  }
  return body;
}

test('who resumes far behind gets all of it, in order, however much it is', async (t) => {
  const { store, open } = await startWorld(t);
  const { session } = store.create();
  for (let number = 0; number < 160; number += 1) say(session, 'x'.repeat(50_000));
  const answer = await open(session, 10);
  say(session, 'the last one');
  const body = await restOf(answer, store, session, 'the last one');
  assert.deepEqual(
    idsOf(body),
    Array.from({ length: 151 }, (_, index) => index + 11),
  );
});

test('who does not read holds nothing but what was sent, and reads on where it stopped', async (t) => {
  const { store, open } = await startWorld(t);
  const { session } = store.create();
  const answer = await open(session);
  for (let number = 0; number < 200; number += 1) session.write('long', 't', 'y'.repeat(50_000));
  session.append('message', { message: 'long', turn: 't', role: 'assistant', text: 'whole' });
  const body = await restOf(answer, store, session, '"whole"');
  assert.deepEqual(idsOf(body), [1]);
  assert.ok(body.length < 10_000_000, 'text that the message itself brought is not sent any more');
});

test('who comes in the middle of an answer gets what was written of it, once', async (t) => {
  const { store, open } = await startWorld(t);
  const { session } = store.create();
  session.write('m', 't', 'One ');
  const answer = await open(session, 0);
  session.write('m', 't', 'two');
  say(session, 'One two');
  const events = eventsOf(await restOf(answer, store, session, 'One two'));
  assert.deepEqual(
    events.map(({ offset, text: written }) => [offset, written]),
    [
      [0, 'One '],
      [4, 'two'],
      [undefined, 'One two'],
    ],
  );
});

test('a stream ends with its session', async (t) => {
  const { store, open } = await startWorld(t);
  const use = store.create();
  const answer = await open(use.session);
  store.remove(use.session.card.id);
  assert.deepEqual(idsOf(await text(answer)), []);
  use[Symbol.dispose]();
  assert.deepEqual(store.list(), []);
});

test('a client that stopped reading is let go, with what was not sent to it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] });
  const { store, open } = await startWorld(t);
  const { session } = store.create();
  const answer = await open(session);
  const failed = once(answer, 'error');
  // More than the sockets take on the way.
  say(session, 'z'.repeat(30_000_000));
  t.mock.timers.tick(140_000);
  say(session, 'after the end');
  t.mock.timers.tick(20_000);
  answer.resume();
  assert.match(String(await failed), /aborted/);
});
