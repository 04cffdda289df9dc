// The routes that the shell knows are those of the contract's table.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ROUTES_FILE, routesText } from '../../write-routes.ts';
import { shellRoutes } from './routes.ts';

test('the checked-in routes are the ones the route table makes', () => {
  assert.equal(routesText(), readFileSync(ROUTES_FILE, 'utf8'), 'run `npm run openapi`');
});

test('they open a session and use one; none is for an app or a node alone', () => {
  const known: readonly string[] = Object.keys(shellRoutes);
  for (const id of ['auth.login.verify', 'home.read', 'catalog.publish']) assert.ok(known.includes(id), id);
  for (const id of ['node.join', 'author.requests.begin', 'services.apps.list']) assert.ok(!known.includes(id), id);
});
