// openapi.json is what the route table says, and says something about every route.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import type { RouteSpec } from './domain.ts';
import { errors, routes } from './domains.ts';
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

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly servers?: readonly { readonly url: string }[];
}

function operations(): readonly Operation[] {
  const document = openApiDocument('0.0.0') as { paths: Record<string, Record<string, Operation>> };
  return Object.values(document.paths).flatMap((path) => Object.values(path));
}

/** Of what the other listeners serve themselves. */
const BESIDE_THE_TABLE = /^(?:intelligence|outbound|objectStorage|backend|public)\.|\.unversioned$/;

test('every route has an operation with its callers and its answers, and every operation a name of its own', () => {
  const ids = operations().map(({ operationId }) => operationId);
  assert.deepEqual(ids.filter((id) => !BESIDE_THE_TABLE.test(id)).sort(), Object.keys(routes).sort());
  assert.equal(new Set(ids).size, ids.length);
});

test('what an operation presents, where it is served and what it refuses are defined', () => {
  const { components } = openApiDocument('0.0.0') as {
    components: Readonly<Record<'securitySchemes' | 'responses', Readonly<Record<string, object>>>>;
  };
  for (const { operationId, security, responses } of operations()) {
    for (const scheme of security.flatMap((one) => Object.keys(one)))
      assert.ok(Object.hasOwn(components.securitySchemes, scheme), `${operationId}: ${scheme}`);
    for (const { $ref } of Object.values(responses)) {
      const [, name] = /^#\/components\/responses\/(.+)$/.exec($ref ?? '') ?? [];
      if ($ref !== undefined) assert.ok(name !== undefined && Object.hasOwn(components.responses, name), $ref);
    }
  }
});

test('every code that a route names is one of the table, and every code is named by some operation', () => {
  for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][])
    for (const code of spec.refuses ?? []) assert.ok(Object.hasOwn(errors, code), `${id}: ${code}`);
  const named = new Set(
    operations().flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ $ref = '' }) => $ref.slice($ref.lastIndexOf('/') + 1).split('.')),
    ),
  );
  const nowhere = Object.keys(errors).filter((code) => !named.has(code));
  // A bug; of every path, for another method; and what the worker of agents says, whose routes are a backend's.
  const ofAgents = ['agent_busy', 'agent_gone', 'agent_session_full', 'agent_storage_full'];
  const known = [...ofAgents, 'internal_error', 'method_not_allowed'];
  assert.deepEqual(nowhere.sort(), known);
});

test('every JSON body of the account routes refuses secret material', () => {
  for (const [id, spec] of Object.entries(routes)) {
    if (!spec.path.startsWith('/v1/auth/') || !('body' in spec)) continue;
    assert.ok('refusesSecrets' in spec.body, id);
  }
});

/** What an installation may do by being one (specification 2.2, 4.2 and 4.9), and what core asks the person for each time. */
const INTRINSIC = /^services\.(?:(?:appCapability|files|workLeases|workflows)\.|webSearch$)/;

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
