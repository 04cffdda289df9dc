// Cases from public bug reports: what a trusted proxy in front says of the client, and fields that senders of webhooks sign.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import { handshake, switching } from '../../http/test-support/handshakes.ts';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import { HOSTNAME, startUnderTest } from '../test-support/ingress-under-test.ts';

interface ForwardedCase {
  readonly name: string;
  readonly upgrade?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly right: Readonly<Record<string, string>>;
}

function casesOf<Case>(file: string): readonly Case[] {
  return JSON.parse(readFileSync(new URL(`../../http/test-vectors/${file}.json`, import.meta.url), 'utf8')).cases;
}

const SAID = new Map([
  ['x-forwarded-for', CLIENT_ADDRESS],
  ['x-forwarded-proto', CLIENT_PROTOCOL],
]);
const lines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

for (const { name, upgrade = false, headers, right } of casesOf<ForwardedCase>('forwarded')) {
  test(`${name}: the node learns what the trusted proxy meant`, async (t) => {
    const tested = await startUnderTest({ trustedProxies: ['127.0.0.1'] });
    t.after(() => tested.close());
    const seen: IncomingMessage[] = [];
    tested.node.handle = (req, res) => {
      seen.push(req);
      res.end();
    };
    tested.node.server.on('upgrade', (req, socket) => {
      seen.push(req);
      socket.on('error', () => undefined);
      socket.end(switching(req));
    });
    const head = [`GET ${upgrade ? '/chat' : '/'} HTTP/1.1`, `Host: ${HOSTNAME}`, ...lines(headers)];
    const sent = [...head, ...(upgrade ? handshake() : ['Connection: close']), '', ''];
    const connection = await openRaw(tested.port, sent.join('\r\n'));
    await connection.closed();
    for (const [field, value] of Object.entries(right))
      assert.equal(seen[0]?.headers[SAID.get(field) ?? field], value, field);
  });
}

for (const { name, headers } of casesOf<Pick<ForwardedCase, 'name' | 'headers'>>('webhook-headers')) {
  test(`${name}: the node gets each field as it was sent, and the client an id of ours`, async (t) => {
    const tested = await startUnderTest();
    t.after(() => tested.close());
    const seen: IncomingMessage[] = [];
    tested.node.handle = (req, res) => {
      seen.push(req);
      res.setHeader('X-Request-Id', 'of-the-node').end();
    };
    const head = ['POST /hooks/x HTTP/1.1', `Host: ${HOSTNAME}`, 'Content-Length: 2', 'Connection: close'];
    const connection = await openRaw(tested.port, [...head, ...lines(headers), '', 'ok'].join('\r\n'));
    await connection.closed();
    for (const [field, value] of Object.entries(headers)) assert.equal(seen[0]?.headers[field.toLowerCase()], value);
    assert.match(connection.received(), /\r\nx-request-id: of-the-node\r\n/i);
  });
}
