// The wire types of the Rust client are those that the route table makes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { openApiDocument } from './openapi/document.ts';
import { RUST_TYPES_FILE, rustTypes } from './rust-types.ts';

const document = () => JSON.parse(JSON.stringify(openApiDocument(manifest.version)));

test('the checked-in wire types are the ones the route table makes', () => {
  assert.equal(rustTypes(document()), readFileSync(RUST_TYPES_FILE, 'utf8'), 'run `npm run openapi`');
});

test('a member that is added, and a route that moves, change them', () => {
  const changed = document();
  const { schema } = changed.paths['/v1/services/apps'].get.responses[200].content['application/json'];
  schema.properties.items.items.properties.isNew = { type: 'boolean' };
  changed.paths['/v1/services/inventory'] = changed.paths['/v1/services/system'];
  delete changed.paths['/v1/services/system'];
  const types = rustTypes(changed);
  assert.match(types, /pub is_new: Option<bool>,/);
  assert.match(types, /SYSTEM_READ: Route = Route \{ method: Method::GET, path: "\/v1\/services\/inventory" \}/);
});

test('a route that is gone, and a schema without a Rust type, are errors', () => {
  const without = document();
  delete without.paths['/v1/services/system'];
  assert.throws(() => rustTypes(without), /services\.system\.read/);
  const strange = document();
  const { schema } = strange.paths['/v1/services/system'].get.responses[200].content['application/json'];
  schema.properties.accounts = { type: 'tuple' };
  assert.throws(() => rustTypes(strange), /SystemInventoryAccounts/);
});
