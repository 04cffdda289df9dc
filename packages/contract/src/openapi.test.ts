// openapi.json is what the route table says, and says something about every route.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { routes } from './domains.ts';
import { openApiDocument } from './openapi/document.ts';

test('the checked-in openapi.json is the one the route table makes', () => {
  const text = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
  assert.deepEqual(
    JSON.parse(text),
    JSON.parse(JSON.stringify(openApiDocument(manifest.version))),
    'run `npm run openapi`',
  );
});

test('its patterns are read by tools of every language', () => {
  const text = JSON.stringify(openApiDocument(manifest.version));
  assert.doesNotMatch(text, /\\p\{/i);
  for (const [, pattern = ''] of text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)) {
    const source: string = JSON.parse(pattern);
    // Neither Python nor editors set the flag; and a group with a name is written in another way there.
    assert.doesNotThrow(() => new RegExp(source), source);
    assert.doesNotMatch(source, /\(\?<[a-z]|\\u\{/i, source);
  }
});

test('every route has an operation with its callers and its answers', () => {
  const document = openApiDocument('0.0.0') as {
    paths: Record<string, Record<string, { operationId: string; 'x-callers': unknown }>>;
  };
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  assert.deepEqual(operations.map(({ operationId }) => operationId).sort(), Object.keys(routes).sort());
});

test('every JSON body of the account routes refuses secret material', () => {
  for (const [id, spec] of Object.entries(routes)) {
    if (!spec.path.startsWith('/v1/auth/') || !('body' in spec)) continue;
    assert.ok('refusesSecrets' in spec.body, id);
  }
});

/** What an installation may do by being one (specification 2.2, 4.2 and 4.9). */
const INTRINSIC = /^services\.(?:appCapability|workLeases|workflows)\./;

test('every route names at least one caller, and only routes for frontends and workloads name a grant', () => {
  for (const [id, spec] of Object.entries(routes)) {
    assert.ok(spec.callers.length > 0, id);
    const forApps = spec.callers.some((kind) => kind === 'frontend' || kind === 'installation');
    // What a Gateway may have of core may depend on more than one grant: then the handler decides.
    if (!spec.path.startsWith('/v1/gateway/'))
      assert.equal('grant' in spec, forApps && !INTRINSIC.test(id), `${id}: grant and callers disagree`);
    const changes = spec.method !== 'GET' && spec.callers.some((kind) => kind === 'session' || kind === 'anonymous');
    // What machines prove with a key or a token, no browser has.
    if (spec.path.startsWith('/v1/node/') || spec.path.startsWith('/v1/ingress/')) continue;
    // Begun and ended by a command line; only what a person does in between is for the shell.
    if (spec.path.startsWith('/v1/author/requests') && !spec.callers.some((kind) => kind === 'session')) continue;
    assert.equal('origin' in spec, changes, `${id}: a state-changing browser route demands its origin, no other does`);
  }
});
