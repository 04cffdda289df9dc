// Promises of counting connections: an address has so many, whichever of its spellings and neighbours it comes from.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { countPerAddress } from './connection-count.ts';

/** No machine of the tests has so many addresses. */
function connectionFrom(remoteAddress: string): Socket {
  return Object.assign(new EventEmitter(), { remoteAddress }) as Socket;
}

test('all addresses of one IPv6 network share its connections, and another network has its own', () => {
  const mayStay = countPerAddress(3);
  const open = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff::3'].map(connectionFrom);
  assert.deepEqual(open.map(mayStay), [true, true, true]);
  const fourth = connectionFrom('2001:db8:1:2:aaaa:bbbb:cccc:dddd');
  assert.equal(mayStay(fourth), false);
  assert.equal(mayStay(connectionFrom('2001:db8:1:3::1')), true);
  // Refused ones are counted until they are closed.
  fourth.emit('close');
  open[0]?.emit('close');
  assert.equal(mayStay(connectionFrom('2001:db8:1:2::9')), true);
});

test('an IPv4 address is one, also where the socket shows it as IPv6', () => {
  const mayStay = countPerAddress(1);
  assert.equal(mayStay(connectionFrom('192.0.2.7')), true);
  assert.equal(mayStay(connectionFrom('::ffff:192.0.2.7')), false);
  assert.equal(mayStay(connectionFrom('::ffff:192.0.2.8')), true);
});

test('connections of this machine to itself are not counted', () => {
  const mayStay = countPerAddress(1);
  for (const address of ['127.0.0.1', '127.0.0.1', '::1', '::1', '::ffff:127.0.0.1', '::ffff:127.0.0.1'])
    assert.equal(mayStay(connectionFrom(address)), true, address);
});
