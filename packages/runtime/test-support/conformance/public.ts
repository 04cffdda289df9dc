// Public requests reach a workload through its Gateway, wherever the driver runs that: by its policy alone, and until that
// changes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { type Assignment, CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { handshake } from '../../../http/test-support/handshakes.ts';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import { openPublicDoor } from '../door.ts';
import { portOf } from '../port-of.ts';
import type { Suite } from './suite.ts';

const HOSTNAME = 'subject--aaaabbbbccccddddeeee.public.platform.localhost';

export function publicBehaviour({ subject }: Suite): void {
  test('a workload answers the internet as its policy says, and not a moment longer', async (t) => {
    const { gateway } = subject().instance;
    const door = openPublicDoor(gateway).listen(0, '127.0.0.1');
    await once(door, 'listening');
    t.after(() => {
      door.close();
      door.closeAllConnections();
    });
    const send = (line: string, fields: readonly string[] = [], host = HOSTNAME) =>
      openRaw(
        portOf(door),
        [
          ...[line, `Host: ${host}`, `${CLIENT_ADDRESS}: 2001:db8::7`, `${CLIENT_PROTOCOL}: https`],
          ...['Cookie: a=b', 'Authorization: Bearer x', 'Forwarded: for=10.0.0.1', ...fields, '', ''],
        ].join('\r\n'),
      );
    const statusOf = async (line: string, host = HOSTNAME) => {
      const connection = await send(line, ['Connection: close'], host);
      await connection.closed();
      return connection.answers()[0]?.status;
    };
    const policy = (revision: number, routes: readonly string[]): Assignment['gateway'] =>
      routes.length === 0 ? { revision } : { revision, public: { hostname: HOSTNAME, routes: [...routes] } };

    assert.equal(await statusOf('GET /public/seen HTTP/1.1'), 421);
    await gateway.apply(policy(1, ['GET:/public/*', 'WS:/chat']));
    const seen = await send('GET /public/seen HTTP/1.1', ['Connection: close']);
    await seen.closed();
    const [answer] = seen.answers();
    assert.equal(answer?.status, 200, seen.received());
    assert.match(answer?.head ?? '', /content-security-policy: default-src 'self'/i);
    assert.doesNotMatch(answer?.head ?? '', /set-cookie/i);
    const { connection: _, ...headers } = JSON.parse(answer?.body ?? '');
    assert.deepEqual(headers, {
      host: HOSTNAME,
      forwarded: `for="[2001:db8::7]";host=${HOSTNAME};proto=https`,
      'x-forwarded-for': '2001:db8::7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': HOSTNAME,
      'platform-public': '1',
    });
    assert.equal(await statusOf('GET /other HTTP/1.1'), 404);
    assert.equal(await statusOf('POST /public/seen HTTP/1.1'), 404);
    assert.equal(await statusOf('GET /chat HTTP/1.1'), 404);
    assert.equal(await statusOf('GET /public/seen HTTP/1.1', `x.${HOSTNAME}`), 421);
    const appHost = new URL(subject().assignment.appOrigin).host;
    assert.equal(await statusOf('GET /public/seen HTTP/1.1', appHost), 421);

    const socket = await send('GET /chat HTTP/1.1', handshake());
    await socket.until(() => socket.received().includes('\r\n\r\n'));
    socket.socket.write('hello');
    await socket.until(() => socket.received().endsWith('hello'));
    // Its client takes the begin and then nothing more.
    const download = await send('GET /public/endless HTTP/1.1');
    await download.until(() => download.received().length > 1_000_000);
    download.socket.pause();
    await until('both to count as use', () => gateway.activeRequests() === 2);

    await gateway.apply(policy(2, ['GET:/public/seen']));
    await socket.closed();
    download.socket.resume();
    await download.closed();
    assert.equal(download.answers().length, 0);
    await until('nothing under way', () => gateway.activeRequests() === 0);
    assert.equal(await statusOf('GET /public/seen HTTP/1.1'), 200);
    assert.equal(await statusOf('GET /public/endless HTTP/1.1'), 404);
    await gateway.apply(policy(3, []));
    assert.equal(await statusOf('GET /public/seen HTTP/1.1'), 421);
  });
}
