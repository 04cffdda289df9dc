// Each route by which a session changes something says what confirms it, or why nothing does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmedBy, type RouteSpec } from './domain.ts';
import { confirmedOperation } from './domains/passkey-credentials.ts';
import { routes } from './domains.ts';

const table = Object.entries<RouteSpec>(routes);
const changes = ({ method, callers }: RouteSpec) => method !== 'GET' && callers.includes('session');

test('each route by which a session changes something says so, and no other', () => {
  const wrong = table.filter(([, spec]) => changes(spec) !== (spec.confirms !== undefined));
  assert.deepEqual(
    wrong.map(([id]) => id),
    [],
  );
});

test('each operation has a route, whose body has a place for the confirmation', () => {
  const confirmed = table.filter(([, spec]) => confirmedBy(spec).length > 0);
  assert.deepEqual(confirmed.flatMap(([, spec]) => confirmedBy(spec)).sort(), [...confirmedOperation.options].sort());
  for (const [id, { body }] of confirmed) {
    assert.ok(body !== undefined && 'schema' in body, id);
    const { error } = body.schema.safeParse({ confirmation: 'none' });
    assert.ok(
      error?.issues.some(({ path }) => path[0] === 'confirmation'),
      id,
    );
  }
});
