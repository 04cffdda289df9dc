import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { isElsewhere, lookupElsewhere, mayBeElsewhere } from './elsewhere.ts';

for (const address of [
  '10.0.0.7',
  '192.168.1.2',
  '172.20.0.3',
  '100.64.1.1',
  '203.0.114.9',
  '2a00:1450::1',
  'fd12:3456::1',
])
  test(`${address} may be another machine`, () => assert.ok(isElsewhere(address)));

for (const address of [
  ...['127.0.0.1', '127.8.9.1', '0.0.0.0', '169.254.169.254', '100.100.100.200', '224.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
  ],
  ...['64:ff9b::7f00:1', '2002:7f00:1::', '', 'localhost', '0177.0.0.1'],
])
  test(`“${address}” is none of another machine`, () => assert.ok(!isElsewhere(address)));

test('hosts are addresses with or without brackets, or names that are looked up later', () => {
  for (const host of ['[fd12::1]', '10.1.1.1', 'node-3.example.org', 'rack-7']) assert.ok(mayBeElsewhere(host), host);
  for (const host of ['[::1]', '127.0.0.1', 'localhost', 'localhost.', 'a.localhost', '[fe80::1]'])
    assert.ok(!mayBeElsewhere(host), host);
});

test('a name that leads to this machine is not found', async () => {
  const find = promisify(lookupElsewhere);
  for (const options of [{}, { all: true }]) await assert.rejects(find('localhost', options), { code: 'ENOTFOUND' });
});
