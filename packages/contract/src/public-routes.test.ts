// Which requests pass which routes, and how a declaration and a grant meet.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openRoutes, publicRoutes, routeState } from './contract.ts';

const requests: readonly (readonly [routes: readonly string[], method: string, path: string, passes: boolean])[] = [
  [['GET:/a'], 'GET', '/a', true],
  [['GET:/a'], 'HEAD', '/a', true],
  [['HEAD:/a'], 'GET', '/a', false],
  [['GET:/a'], 'POST', '/a', false],
  [['GET:/a'], 'OPTIONS', '/a', false],
  [['OPTIONS:/a'], 'OPTIONS', '/a', true],
  [['GET:/a'], 'GET', '/a/', false],
  [['GET:/a'], 'GET', '/A', false],
  [['GET:/a'], 'GET', '/%61', false],
  [['GET:/a'], 'GET', '/ab', false],
  [['POST:/hooks/*'], 'POST', '/hooks/x', true],
  [['POST:/hooks/*'], 'POST', '/hooks/', true],
  [['POST:/hooks/*'], 'POST', '/hooks', true],
  [['POST:/hooks/*'], 'POST', '/hooksx', false],
  [['POST:/hooks/*'], 'POST', '//hooks/x', false],
  [['GET:/*'], 'GET', '/', true],
  [['GET:/*'], 'GET', '/any/thing', true],
  [['GET:/*'], 'WS', '/', false],
  [['WS:/native'], 'WS', '/native', true],
  [['WS:/native'], 'GET', '/native', false],
  [['POST:/hooks/x*'], 'POST', '/hooks/xyz', true],
  ...['..;', '..;a=b', '%2e%2e;', '.%2E%3b', '..%20', '..+', '..%3f', '..%23', '.;'].map(
    (segment) => [['POST:/hooks/*'], 'POST', `/hooks/${segment}/admin`, false] as const,
  ),
  [['POST:/hooks/*'], 'POST', '/hooks/.../a;b=c/..a;/.well-known', true],
  [[], 'GET', '/', false],
];
for (const [routes, method, path, passes] of requests)
  test(`${method} ${path} ${passes ? 'passes' : 'does not pass'} ${routes.join(' and ') || 'nothing'}`, () =>
    assert.equal(publicRoutes(routes).match(method, path), passes));

describe('a declared route', () => {
  const cases: readonly (readonly [
    declared: string,
    granted: readonly string[],
    state: ReturnType<typeof routeState>,
    open: readonly string[],
  ])[] = [
    ['GET:/a', [], 'not-granted', []],
    ['GET:/a', ['GET:/a'], 'open', ['GET:/a']],
    ['GET:/a', ['*'], 'open', ['GET:/a']],
    ['GET:/a', ['GET:*'], 'open', ['GET:/a']],
    ['GET:/a', ['POST:/a', 'GET:/b'], 'not-granted', []],
    ['POST:/hooks/*', ['POST:/hooks/*'], 'open', ['POST:/hooks/*']],
    ['POST:/hooks/*', ['POST:/hooks/x', 'POST:/hooks/y'], 'partly', ['POST:/hooks/x', 'POST:/hooks/y']],
    ['POST:/hooks/*', ['POST:/hooks'], 'partly', ['POST:/hooks']],
    ['POST:/hooks/*', ['POST:/hooks/x/*'], 'partly', ['POST:/hooks/x/*']],
    ['POST:/hooks/*', ['POST:/*'], 'open', ['POST:/hooks/*']],
    ['POST:/hooks', ['POST:/hooks/*'], 'open', ['POST:/hooks']],
    ['POST:/hooks/*', ['POST:/other/*'], 'not-granted', []],
  ];
  for (const [declared, granted, state, open] of cases)
    test(`${declared} with ${granted.join(' and ') || 'no grant'} is ${state}`, () => {
      assert.equal(routeState(declared, granted), state);
      assert.deepEqual(openRoutes([declared], granted), open);
    });

  test('that two grants open is there once', () =>
    assert.deepEqual(openRoutes(['GET:/a', 'GET:/b'], ['*', 'GET:/a']), ['GET:/a', 'GET:/b']));
});
