// Fields between clients and a real backend, at its own page and in public: what each wrote arrives as it was.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Assignment, CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { answerWith, BYTE_FIELDS, FRAMINGS, valueIn } from '../../../http/test-support/field-bytes.ts';
import { openRaw, type RawAnswer } from '../../../http/test-support/raw-exchange.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { NODE_HOST, startTestNode, type TestNode } from '../../test-support/node.ts';

/** Answers with the bytes that the path names, or with the head that it got, each as hexadecimal digits. */
const BACKEND = `
  process.getBuiltinModule('node:net').createServer((socket) => {
    let received = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      const end = received.indexOf('\\r\\n\\r\\n');
      if (end < 0) return;
      const head = received.slice(0, end);
      received = '';
      const [, hex] = /^GET \\/feed\\/([0-9a-f]+) /.exec(head) ?? [];
      const echo = Buffer.from(head, 'latin1').toString('hex');
      const answer = hex ? Buffer.from(hex, 'hex') : 'HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n' + echo;
      if (answer.includes('Connection: close')) socket.end(answer);
      else socket.write(answer);
    });
  }).listen(Number(process.env.PORT));
`;

const casesOf = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../../http/test-vectors/${file}.json`, import.meta.url), 'utf8')).cases;

describe('fields of a backend', () => {
  let node: TestNode;
  let one: Assignment;

  before(async () => {
    node = await startTestNode();
    const hash = await node.core.publish({ 'index.mjs': BACKEND });
    one = makeAssignment(hash, { publicRoutes: ['GET:/feed/*', 'POST:/hooks/*'] });
    node.core.assign([one]);
    await until('the assignment', async () => {
      const { status } = await node.core.control('GET', `/installations/${one.installationId}/status`);
      return node.core.isFollowed() && status === 200;
    });
  });
  after(() => node.close());

  async function ask(port: number, head: readonly string[], body = ''): Promise<RawAnswer> {
    const connection = await openRaw(
      port,
      Buffer.from([...head, 'Connection: close', '', body].join('\r\n'), 'latin1'),
    );
    await connection.closed();
    const [answer] = connection.answers();
    assert.ok(answer !== undefined, connection.received());
    return answer;
  }

  function ofPage(target: string, fields: readonly string[] = []): Promise<RawAnswer> {
    const [method, path] = target.split(' ');
    const line = `${method} /e/${one.endpointId}${path} HTTP/1.1`;
    const own = [`Host: ${NODE_HOST}`, `Authorization: Bearer ${capabilityFor(one)}`];
    return ask(node.runtime.listenerPort, [line, ...own, ...fields]);
  }

  function inPublic(target: string, fields: readonly string[] = [], body = ''): Promise<RawAnswer> {
    const { url, credential } = node.core.publicSide();
    const ofIngress = [
      ...[`Host: ${one.gateway.public?.hostname}`, `Authorization: Bearer ${credential}`],
      ...[`${CLIENT_ADDRESS}: 192.0.2.7`, `${CLIENT_PROTOCOL}: https`],
    ];
    return ask(Number(new URL(url).port), [`${target} HTTP/1.1`, ...ofIngress, ...fields], body);
  }

  const headSeen = ({ body }: RawAnswer) => Buffer.from(body, 'hex').toString('latin1');
  const origin = () => `Origin: ${one.appOrigin}`;

  test('pass byte for byte, whatever frames the answer', async () => {
    for (const framing of Object.keys(FRAMINGS).filter((name) => name !== 'a long body')) {
      for (const field of BYTE_FIELDS) {
        const target = `GET /feed/${answerWith(field, framing).toString('hex')}`;
        for (const answer of [await ofPage(target, [origin()]), await ofPage(target), await inPublic(target)]) {
          assert.match(answer.head, /^HTTP\/1\.1 200 OK\r\n/, framing);
          assert.equal(valueIn(answer.head, field.name), field.value, `${field.name}, ${framing}`);
        }
      }
    }
  });

  test('of a request reach it byte for byte', async () => {
    for (const { name, value } of BYTE_FIELDS) {
      for (const answer of [
        await ofPage('GET /', [`${name}: ${value}`]),
        await inPublic('POST /hooks/x', [`${name}: ${value}`, 'Content-Length: 2'], 'ok'),
      ])
        assert.equal(valueIn(headSeen(answer), name), value, name);
    }
  });

  const varies: { readonly name: string; readonly hop?: string; readonly vary: string }[] = casesOf('vary');
  for (const { name, hop, vary } of [
    ...varies,
    { name: 'several', vary: 'Accept-Language, accept-encoding' },
    { name: 'origin-too', vary: 'origin, Accept' },
    { name: 'everything', vary: '*' },
    { name: 'two-fields', vary: 'Accept-Language\r\nVary: Accept' },
  ]) {
    test(`Vary, ${name}: the client gets each name of it, and ours once`, async () => {
      const answer = `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nVary: ${vary}\r\n\r\nok`;
      const target = `GET /feed/${Buffer.from(answer).toString('hex')}`;
      const names = ({ head }: RawAnswer) =>
        head
          .split('\r\n')
          .flatMap((line) => /^vary: (.*)$/i.exec(line)?.[1]?.split(',') ?? [])
          .map((one) => one.trim().toLowerCase());
      const wanted = vary.toLowerCase().split(/, |\r\nvary: /);
      const pages = hop === undefined ? [await ofPage(target, [origin()]), await ofPage(target)] : [];
      for (const page of pages) assert.deepEqual(names(page).sort(), [...new Set([...wanted, 'origin'])].sort());
      assert.deepEqual(names(await inPublic(target)).sort(), wanted.sort());
    });
  }

  test('Vary is Origin where the backend says none, also without an Origin', async () => {
    for (const fields of [[], [origin()]])
      assert.equal(valueIn((await ofPage('GET /', fields)).head, 'Vary'), 'Origin');
  });

  for (const { name, headers } of casesOf('webhook-headers') as { name: string; headers: Record<string, string> }[]) {
    test(`${name}: a public backend gets each field as it was sent, and our id beside it`, async () => {
      const fields = Object.entries(headers).map(([field, value]) => `${field}: ${value}`);
      const answer = await inPublic('POST /hooks/x', [...fields, 'Content-Length: 2'], 'ok');
      const seen = headSeen(answer);
      for (const [field, value] of Object.entries(headers)) assert.equal(valueIn(seen, field), value, field);
      const ours = valueIn(answer.head, 'X-Request-Id');
      assert.match(ours ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(valueIn(seen, 'Platform-Request-Id'), ours);
    });
  }

  test('X-Request-Id: of a page it ends here, and nobody speaks in the name of ours', async () => {
    assert.equal(valueIn(headSeen(await ofPage('GET /', ['X-Request-Id: theirs'])), 'X-Request-Id'), undefined);
    const fields = ['Platform-Request-Id: forged', 'Content-Length: 2', 'X_Request_Id: forged'];
    assert.doesNotMatch(headSeen(await inPublic('POST /hooks/x', fields, 'ok')), /forged/);
  });
});
