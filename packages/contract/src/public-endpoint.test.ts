// Public endpoints of a manifest name one path each, whoever reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicEndpoint } from './contract.ts';

const valid = [
  ...['GET:/', 'GET:/*', 'GET:/a', 'POST:/hooks/*', 'WS:/native', 'PUT:/a/b.c', 'GET:/a/', 'OPTIONS:/.well-known/x'],
  ...['GET:/a..b', 'GET:/...', 'GET:/..a', 'GET:/a%20b', 'GET:/%252e%252e'],
];
const invalid = [
  // Dot segments, anywhere and however written.
  ...['GET:/..', 'GET:/.', 'GET:/../x', 'GET:/./x', 'GET:/a/..', 'GET:/a/../b', 'GET:/a/.', 'GET:/../*', 'GET:/./*'],
  ...['GET:/%2e%2e', 'GET:/%2E.', 'GET:/a/.%2e/b', 'GET:/%2e'],
  // Encoded separators and what cannot be decoded.
  ...['GET:/a%2fb', 'GET:/a%5Cb', 'GET:/a%00', 'GET:/a%0a', 'GET:/%', 'GET:/%zz', 'GET:/%ff', 'GET:/a\\b'],
  ...['GET://', 'GET://evil.example', 'GET:/a//b', 'GET:/a//*'],
  // No method, no path, or more than a path.
  ...[
    '',
    'GET',
    'GET:',
    'GET:a',
    'get:/a',
    'TRACE:/a',
    '/a',
    'GET:/a?b',
    'GET:/a#b',
    'GET:/a b',
    'GET:/*/a',
    'GET:/a*',
  ],
];

for (const endpoint of valid)
  test(`${endpoint} is an endpoint`, () => assert.equal(publicEndpoint.safeParse(endpoint).success, true));
for (const endpoint of invalid)
  test(`${endpoint || 'nothing'} is none`, () => assert.equal(publicEndpoint.safeParse(endpoint).success, false));
