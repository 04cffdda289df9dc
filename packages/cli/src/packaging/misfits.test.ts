// What does not fit together in a manifest is named with its place, and what fits is not.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import {
  isCritical,
  isPermissionId,
  manifest as manifestSchema,
  onlyResource,
  partUsing,
  permissions,
  requiredRole,
} from '@platform/contract';
import { misfits } from './misfits.ts';
import { readManifest } from './read-manifest.ts';

const EXAMPLES = path.join(import.meta.dirname, '../../../../examples');
const workload = { runtime: 'node', entry: 'main.js' };
const slot = { name: 'stripe', origin: 'https://api.stripe.com', pathPrefix: '/v1', methods: ['POST'] };
const grant = (id: string, ...resources: string[]) => ({ id, resources });

function found(more: Readonly<Record<string, unknown>>): string[] {
  const whole = { schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'Sample', summary: 'A sample.', ...more };
  return misfits(manifestSchema.parse(whole)).map((fault) => `${fault.path} ${fault.message}`);
}

const places = (more: Readonly<Record<string, unknown>>) => found(more).map((line) => line.split(' ', 1)[0]);

const agentOf = (more: object, ...models: string[]) => ({
  workload: { runtime: 'agent', agent: { instructions: 'a.md', ...more }, resources: { diskMiB: 64 } },
  permissions: [grant('intelligence.use', ...models)],
});

const cases: readonly [string, Readonly<Record<string, unknown>>, readonly string[]][] = [
  ['an endpoint that nothing asks for', { workload, publicEndpoints: ['GET:/feed'] }, ['publicEndpoints[0]']],
  [
    'an agent whose model it may not use',
    agentOf({ model: { provider: 'openai', id: 'large' } }, 'openai:small'),
    ['workload.agent.model'],
  ],
  ['an agent whose model it may use', agentOf({ model: { provider: 'openai', id: 'large' } }, 'openai:*'), []],
  [
    'variables for an agent',
    { workload: { ...agentOf({}).workload, environment: { A: 'b' } }, permissions: agentOf({}, '*').permissions },
    ['workload.environment'],
  ],
  [
    'an endpoint that is asked for in part',
    { workload, publicEndpoints: ['POST:/hooks/*'], permissions: [grant('endpoints.public', 'POST:/hooks/x')] },
    ['publicEndpoints[0]'],
  ],
  [
    'a route that is asked for and not declared',
    { workload, publicEndpoints: ['GET:/a'], permissions: [grant('endpoints.public', 'GET:/a', 'GET:/b')] },
    ['permissions[0].resources[1]'],
  ],
  [
    'a route in another form',
    { workload, publicEndpoints: ['GET:/a'], permissions: [grant('endpoints.public', '*', '/a', 'get:/a')] },
    ['permissions[0].resources[1]', 'permissions[0].resources[2]'],
  ],
  [
    'endpoints.public without endpoints',
    { workload, permissions: [grant('endpoints.public', '*')] },
    ['permissions[0].resources[0]'],
  ],
  [
    'a port that nothing asks for',
    {
      workload: { ...workload, mode: 'always' },
      publicPorts: [{ name: 'game', protocol: 'udp', containerPort: 5000 }],
      permissions: [grant('endpoints.public.udp', 'UDP:auto')],
    },
    ['permissions[0].resources[0]', 'publicPorts[0]'],
  ],
  [
    'two names of one port, at a backend that sleeps',
    {
      workload,
      publicPorts: [
        { name: 'game', protocol: 'udp', containerPort: 5000 },
        { name: 'voice', protocol: 'udp', containerPort: 5000 },
        { name: 'one', protocol: 'udp', containerPort: 'auto' },
        { name: 'other', protocol: 'udp', containerPort: 'auto' },
      ],
      permissions: [grant('endpoints.public.udp', '*')],
    },
    ['publicPorts[1].containerPort', 'publicPorts'],
  ],
  ['a slot without permissions', { workload, secretSlots: [slot] }, ['secretSlots[0]']],
  [
    'a slot without its origin',
    { workload, secretSlots: [slot], permissions: [grant('secrets.use', 'stripe')] },
    ['secretSlots[0]'],
  ],
  [
    'a slot without its secret',
    { workload, secretSlots: [slot], permissions: [grant('network.connect', slot.origin)] },
    ['secretSlots[0]'],
  ],
  [
    'a secret without its slot',
    {
      workload,
      secretSlots: [slot],
      permissions: [grant('secrets.use', 'stripe', 'github'), grant('network.connect', slot.origin)],
    },
    ['permissions[0].resources[1]'],
  ],
  [
    'an origin that neither slots nor pages name',
    {
      frontend: { csp: { image: ['https://img.example.com'] } },
      permissions: [grant('network.connect', 'https://img.example.com', 'https://api.example.com')],
    },
    ['permissions[0].resources[1]'],
  ],
  [
    'a wildcard of origins for a page',
    { frontend: {}, permissions: [grant('network.connect', '*')] },
    ['permissions[0].resources[0]'],
  ],
  [
    'an idle time of a backend that never sleeps',
    { workload: { ...workload, mode: 'always', idleSeconds: 60 } },
    ['workload.idleSeconds'],
  ],
  [
    'a disk without a volume',
    { workload: { ...workload, resources: { diskMiB: 64 } } },
    ['workload.resources.diskMiB'],
  ],
  [
    'a port in the environment',
    { workload: { ...workload, environment: { PORT: '1' } } },
    ['workload.environment.PORT'],
  ],
  ['tools that are not offered', { workload: { ...workload, mcp: { path: '/mcp' } } }, ['workload.mcp']],
  [
    'tools that are nowhere',
    { workload, permissions: [grant('mcp.tools.serve', 'self')] },
    ['permissions[0].resources[0]'],
  ],
  ['a system role', { frontend: {}, systemRoles: ['schedules.manager-ui'] }, ['systemRoles']],
  [
    'names that nothing can have',
    {
      frontend: {},
      workload,
      permissions: [
        grant('notifications.publish', 'my/News', 'News', 'news'),
        grant('apps.lifecycle', 'Notes', 'notes', 'no*'),
        grant('intelligence.use', 'gpt-5', 'openai:gpt-5', 'openai*', '*'),
      ],
    },
    [
      'permissions[0].resources[0]',
      'permissions[0].resources[1]',
      'permissions[1].resources[0]',
      'permissions[2].resources[0]',
    ],
  ],
];

for (const [what, manifest, expected] of cases) {
  test(`named with its place: ${what}`, () => assert.deepEqual(places(manifest), expected));
}

test('of every permission it says whether it is critical, or is for a part that the app lacks', () => {
  for (const id of Object.keys(permissions).filter(isPermissionId)) {
    const resource = onlyResource(id) ?? '*';
    const systemRoles = [requiredRole(id)].filter((role) => role !== undefined);
    const lines = (parts: object) =>
      found({ ...parts, systemRoles, permissions: [{ id, resources: [resource] }] }).filter((line) =>
        line.startsWith('permissions[0] '),
      );
    const whole = lines({ frontend: {}, workload });
    assert.equal(
      whole.some((line) => line.includes('critical')),
      isCritical(id, resource),
      id,
    );
    assert.equal(whole.length, Number(isCritical(id, resource)), id);
    const [noPage, noBackend] = [lines({ workload }), lines({ frontend: {} })];
    assert.equal(
      noPage.some((line) => line.includes('only a frontend')),
      partUsing(id) === 'frontend',
      id,
    );
    assert.equal(
      noBackend.some((line) => line.includes('only a backend')),
      partUsing(id) === 'workload',
      id,
    );
  }
});

test('what fits is not named', () => {
  const fitting = {
    frontend: { csp: { connect: ['https://api.example.com'] } },
    workload: { ...workload, mode: 'always', volume: true, resources: { diskMiB: 64 } },
    publicEndpoints: ['GET:/feed', 'POST:/hooks/*', 'WS:/room'],
    publicPorts: [{ name: 'game', protocol: 'udp', containerPort: 'auto' }],
    secretSlots: [slot],
    permissions: [
      grant('endpoints.public', 'GET:/feed', 'POST:/*', 'WS:*'),
      grant('endpoints.public.udp', 'UDP:auto'),
      grant('secrets.use', 'str*'),
      grant('network.connect', 'https://api.example.com', 'https://api.stripe.com*'),
      grant('notifications.publish', '*', 'team.*'),
      grant('search.index', 'self'),
      grant('network.public', '*'),
    ],
  };
  assert.deepEqual(found(fitting), []);
});

test('nothing is wrong with the examples', async () => {
  for (const name of readdirSync(EXAMPLES)) {
    const { manifest } = await readManifest(path.join(EXAMPLES, name));
    assert.deepEqual(misfits(manifest), [], name);
  }
});
