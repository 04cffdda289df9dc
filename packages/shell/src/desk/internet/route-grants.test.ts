// Opening and closing one public route leaves the others as they were, and never goes beyond the request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRoutes, routeState } from '@platform/contract';
import { canOpen, openPartOf, openThrough, withoutRoute, withRoute } from './route-grants.ts';

const DECLARED = ['GET:/', 'GET:/feed', 'POST:/hooks/*', 'WS:/chat'];

test('a route that was granted by name is closed alone', () => {
  assert.deepEqual(withoutRoute('GET:/feed', DECLARED, DECLARED), ['GET:/', 'POST:/hooks/*', 'WS:/chat']);
});

test('closing a route under a wider grant leaves the other declared routes that it covered', () => {
  assert.deepEqual(withoutRoute('POST:/hooks/*', ['*'], DECLARED), ['GET:/', 'GET:/feed', 'WS:/chat']);
  assert.deepEqual(withoutRoute('GET:/feed', ['GET:*', 'WS:/chat'], DECLARED), ['GET:/', 'WS:/chat']);
});

test('closing a route closes the narrower parts of it that were granted', () => {
  assert.deepEqual(withoutRoute('POST:/hooks/*', ['POST:/hooks/a', 'POST:/hooks', 'WS:/chat'], DECLARED), ['WS:/chat']);
});

test('a route below a wildcard is closed with it, unless it was granted by its own name', () => {
  const declared = ['GET:/*', 'GET:/feed'];
  assert.deepEqual(withoutRoute('GET:/*', ['GET:/*'], declared), []);
  assert.deepEqual(withoutRoute('GET:/*', ['*'], declared), []);
  assert.deepEqual(withoutRoute('GET:/*', declared, declared), ['GET:/feed']);
});

test('a route that is open through another one says so', () => {
  const declared = ['GET:/*', 'GET:/feed', 'POST:/feed'];
  assert.equal(openThrough('GET:/feed', declared, ['GET:/*']), 'GET:/*');
  assert.equal(openThrough('GET:/feed', declared, ['GET:/feed']), undefined);
  assert.equal(openThrough('GET:/*', declared, ['*']), undefined);
  assert.equal(openThrough('POST:/feed', declared, ['*']), undefined);
});

test('opening a route grants it by name, and no more than the app requested', () => {
  assert.deepEqual(withRoute('GET:/feed', ['WS:/chat'], ['*']), ['WS:/chat', 'GET:/feed']);
  assert.deepEqual(withRoute('POST:/hooks/*', [], ['POST:/hooks/a', 'WS:/chat']), ['POST:/hooks/a']);
  assert.deepEqual(withRoute('GET:/feed', [], ['WS:/chat']), []);
  assert.deepEqual(
    ['GET:/feed', 'POST:/hooks/*', 'WS:/chat'].map((route) => canOpen(route, ['GET:*', 'POST:/hooks/a'])),
    ['all', 'part', 'nothing'],
  );
});

test('what is open of a route is what the grant covers of it', () => {
  assert.deepEqual(openPartOf('POST:/hooks/*', ['POST:/hooks/a', 'WS:/chat']), ['POST:/hooks/a']);
  assert.deepEqual(openPartOf('POST:/hooks/*', ['*']), ['POST:/hooks/*']);
});

test('for every wider grant, closing and opening again gives the same state for each declared route', () => {
  for (const granted of [['*'], ['GET:*', 'POST:*', 'WS:*'], DECLARED]) {
    for (const route of DECLARED) {
      const closed = withoutRoute(route, granted, DECLARED);
      assert.equal(routeState(route, closed), 'not-granted', `${route} of ${granted}`);
      assert.deepEqual(
        openRoutes(DECLARED, closed),
        DECLARED.filter((other) => other !== route),
      );
      assert.deepEqual(openRoutes(DECLARED, withRoute(route, closed, granted)).sort(), [...DECLARED].sort());
    }
  }
});
