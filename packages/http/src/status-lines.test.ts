// The begin of every answer on a connection is checked, whoever reads the answer and however many came before.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { buildConnector, type Pool } from 'undici';
import { portOf } from '../test-support/port-of.ts';
import { openPool } from './pool.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let server: Server;
let pool: Pool;
let connections = 0;
/** What the upstream answers to the requests of a connection, one after the other. */
let answers: string[] = [];

before(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answers.shift() ?? OK, 'latin1'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => void server.close());
beforeEach(() => {
  connections = 0;
  pool = openPool(`http://127.0.0.1:${portOf(server)}`, { connect: buildConnector({}) });
});

async function get(): Promise<string> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/' });
  return `${statusCode} ${await body.text()}`;
}

for (const [what, interim] of [
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['several interim answers', 'HTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'],
] as const) {
  test(`${what} is skipped before the first answer of a connection and before later ones`, async (t) => {
    t.after(() => pool.destroy());
    answers = Array.from({ length: 10 }, () => interim + OK);
    for (let count = 0; count < 10; count += 1) assert.equal(await get(), '200 ok');
    assert.ok(connections < 5, `${connections} connections`);
  });
}

for (const head of [
  'ICY 200 OK\r\n\r\n',
  'HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200\tOK\r\n\r\n',
]) {
  test(`an answer that begins with ${JSON.stringify(head.slice(0, 14))} fails as the second one too`, async (t) => {
    t.after(() => pool.destroy());
    answers = Array.from({ length: 10 }, () => OK);
    for (let count = 0; count < 10; count += 1) assert.equal(await get(), '200 ok');
    answers = [head];
    await assert.rejects(get(), { code: 'ERR_UPSTREAM_PROTOCOL' });
    assert.equal(await get(), '200 ok');
    assert.ok(connections < 6, `${connections} connections`);
  });
}
