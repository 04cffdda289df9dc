// Promises of counting client addresses: one party is one, however many addresses it has and however they are written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientNetwork } from './client-network.ts';

test('an IPv4 address is itself, also where it is written as IPv6', () => {
  const spellings = [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '::FFFF:192.0.2.7',
    '::ffff:c000:207',
    '0:0:0:0:0:ffff:c000:0207',
    '64:ff9b::c000:207',
    '64:ff9b::192.0.2.7',
  ];
  for (const spelling of spellings) assert.equal(clientNetwork(spelling), '192.0.2.7', spelling);
  assert.notEqual(clientNetwork('::ffff:192.0.2.8'), clientNetwork('::ffff:192.0.2.7'));
});

test('all addresses of a /64 are one, in every spelling, and the next network is another', () => {
  const spellings = [
    '2001:db8:1:2::1',
    '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff',
    '2001:db8:1:2::192.0.2.7',
    '2001:db8:1:2:1::%eth0',
  ];
  for (const spelling of spellings) assert.equal(clientNetwork(spelling), '2001:db8:1:2::/64', spelling);
  assert.equal(clientNetwork('2001:db8:1:3::1'), '2001:db8:1:3::/64');
  assert.equal(clientNetwork('::1'), '0:0:0:0::/64');
});

test('text that is no address stays as it is', () => {
  for (const text of ['', 'unix', 'a:b', '1::2::3', '[::1]', '::1]/@evil']) assert.equal(clientNetwork(text), text);
});
