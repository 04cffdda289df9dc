// What an Ingress answers `platform doctor`, and that it answers it nobody else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { keyFromSeed } from '@platform/link';
import { handshake } from '../../http/test-support/handshakes.ts';
import { openRaw, type RawAnswer } from '../../http/test-support/raw-exchange.ts';
import { key, startUnderTest, type UnderTest } from '../test-support/ingress-under-test.ts';
import { doctorCertificates, doctorFacts, PIECES, SOCKET_TEXT } from './answer-doctor.ts';
import { doctorLabel, doctorNames, doctorProof } from './doctor-name.ts';
import type { PublicTls } from './ingress.ts';

const DOMAIN = 'public.platform.localhost';
const nameNow = () => `${doctorLabel(key, new Date())}.${DOMAIN}`;

let tested: UnderTest;
before(async () => {
  tested = await startUnderTest({ trustedProxies: ['127.0.0.1'] });
});
after(() => tested.close());

async function ask(host: string, target: string, fields: readonly string[] = []): Promise<RawAnswer> {
  const lines = [`${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...fields];
  const connection = await openRaw(tested.port, `${lines.join('\r\n')}\r\n\r\n`);
  await connection.until(() => connection.answers().length === 1);
  connection.socket.destroy();
  const [answer] = connection.answers();
  assert.ok(answer !== undefined, connection.received());
  return answer;
}

const codeOf = ({ body }: RawAnswer) => (JSON.parse(body) as { code: string }).code;

test('the doctor reads how its request arrived, and whom the Ingress takes for the client', async () => {
  const host = `${nameNow()}:8791`;
  const plain = await ask(host, 'GET /facts');
  assert.equal(plain.status, 200, plain.body);
  assert.deepEqual(doctorFacts.parse(JSON.parse(plain.body)), {
    host,
    peer: '127.0.0.1',
    isTrusted: true,
    forwardedFor: null,
    client: { address: '127.0.0.1', protocol: 'http' },
  });
  const forwarded = ['X-Forwarded-For: 203.0.113.9, 198.51.100.7', 'X-Forwarded-Proto: https'];
  const { forwardedFor, client, peer } = doctorFacts.parse(JSON.parse((await ask(host, 'GET /facts', forwarded)).body));
  assert.deepEqual(
    { forwardedFor, client, peer },
    {
      forwardedFor: '203.0.113.9, 198.51.100.7',
      client: { address: '198.51.100.7', protocol: 'https' },
      peer: '127.0.0.1',
    },
  );
});

test('the doctor gets an answer in two pieces, and a WebSocket that says something and closes', async () => {
  const host = nameNow();
  const pieces = await openRaw(tested.port, `GET /pieces/a1 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await pieces.until(() => pieces.received().includes(PIECES.first));
  assert.equal(pieces.answers().length, 0, 'the answer is not complete');
  assert.equal((await ask(host, 'GET /pieces/a1')).status, 404, 'once at a time');
  assert.equal((await ask(host, 'GET /release/a1')).status, 204);
  await pieces.until(() => pieces.answers().length === 1);
  assert.ok(pieces.received().includes(PIECES.released));
  pieces.socket.destroy();
  assert.equal((await ask(host, 'GET /release/a1')).status, 404);
  const lines = ['GET /socket HTTP/1.1', ...handshake({ Host: nameNow() })];
  const connection = await openRaw(tested.port, `${lines.join('\r\n')}\r\n\r\n`);
  await connection.until(() => connection.received().includes(SOCKET_TEXT));
  assert.match(connection.received(), /^HTTP\/1\.1 101 .*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/s);
  connection.socket.destroy();
});

test('the doctor is answered nothing else', async () => {
  for (const target of [
    'GET /',
    'POST /facts',
    'GET /facts/',
    'GET /socket',
    'GET /pieces',
    'GET /pieces/',
    'GET /facts/1',
    'GET /certificates',
    `GET /certificates/${doctorProof(key, new Date())}`,
  ]) {
    const answer = await ask(nameNow(), target);
    assert.deepEqual([answer.status, codeOf(answer)], [404, 'not_found'], target);
  }
});

test('a name that was guessed, has ended, or is of another key is unknown, as any name is', async () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);
  const strange = [
    'doctor--00000000000000000000',
    'doctor--',
    doctorLabel(keyFromSeed(Buffer.alloc(32, 8)), new Date()),
    doctorLabel(key, minutes(-3)),
    doctorLabel(key, minutes(3)),
    `x${doctorLabel(key, new Date())}`,
  ];
  const unknown = await ask(`nobody.${DOMAIN}`, 'GET /facts');
  for (const label of strange) {
    const answer = await ask(`${label}.${DOMAIN}`, 'GET /facts');
    assert.deepEqual([answer.status, codeOf(answer)], [421, 'unknown_host'], label);
    assert.equal(answer.body.length, unknown.body.length);
  }
  assert.equal(tested.core.reports.length, 0);
});

test('how certificates are is answered with the proof alone, also while there is none', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'ingress-doctor-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'not a host.crt'), '');
  const tls: PublicTls = { domain: DOMAIN, certificates: { kind: 'files', folder }, plain: null };
  const secured = await startUnderTest({ tls });
  t.after(() => secured.close());
  const name = nameNow();
  const asked = async (id: string) => {
    const options = {
      host: '127.0.0.1',
      port: secured.port,
      servername: name,
      rejectUnauthorized: false,
      agent: false,
    };
    const request = get({ ...options, path: `/certificates/${id}`, headers: { host: name } });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: JSON.parse(Buffer.concat(await answer.toArray()).toString()) as unknown };
  };
  const { status, body } = await asked(doctorProof(key, new Date()));
  assert.equal(status, 200);
  const what = 'the file is named after no host and no wildcard, or twice after one';
  const problem = { name: 'not a host.crt', kind: 'file_name', what, retryAt: null, servedUntil: null };
  const expected = { served: 0, first: null, hasOwnName: false, problems: [problem], more: 0 };
  assert.deepEqual(doctorCertificates.parse(body), expected);
  const label = doctorLabel(key, new Date()).slice('doctor--'.length);
  const old = doctorProof(key, new Date(Date.now() - 180_000));
  for (const guess of [label, old, '0'.repeat(20), doctorProof(keyFromSeed(Buffer.alloc(32, 8)), new Date())])
    assert.equal((await asked(guess)).status, 404, guess);
});

describe('the name of the doctor', () => {
  let now = new Date('2026-11-23T12:00:30Z');
  const isDoctor = doctorNames(key, () => now);
  const label = doctorLabel(key, now);

  test('holds for its minute and the ones beside it, with any case, domain and port', () => {
    for (const host of [`${label}.a.example`, `${label.toUpperCase()}.b.example:443`, label]) assert.ok(isDoctor(host));
    now = new Date('2026-11-23T12:01:59Z');
    assert.ok(isDoctor(`${label}.a.example`));
    now = new Date('2026-11-23T12:02:00Z');
    assert.ok(!isDoctor(`${label}.a.example`));
  });
});
