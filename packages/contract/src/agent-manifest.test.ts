// What a manifest says of an agent: the least is enough, and what cannot be is named with its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedResources, grantedWorkload, manifest, workloadManifest } from './contract.ts';

const app = { schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'S', summary: 'S' };
const agent = { instructions: 'instructions.md' };
const workload = { runtime: 'agent', agent };
const permissions = [{ id: 'intelligence.use', resources: ['*'] }];

function faultsOf(more: object): string[] {
  const parsed = manifest.safeParse({ ...app, workload, permissions, ...more });
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
}

test('instructions are enough: the rest has defaults, and a volume is there', () => {
  const parsed = manifest.parse({ ...app, workload, permissions });
  assert.deepEqual(parsed.workload?.agent, { ...agent, webSearch: false, maxToolCalls: 50 });
  assert.equal(parsed.workload?.volume, true);
  assert.deepEqual(manifest.parse(parsed), parsed, 'what was stored is read again');
});

test('an agent whose owner has not granted it a volume is assigned none', () => {
  const parsed = manifest.parse({ ...app, workload, permissions }).workload;
  assert.ok(parsed !== undefined);
  const granted = grantedWorkload(parsed, { ...askedResources(parsed), diskMiB: 0 });
  assert.equal(workloadManifest.parse(granted).volume, false);
});

const cases: readonly (readonly [string, object, RegExp])[] = [
  ['without an agent', { workload: { runtime: 'agent' } }, /^workload\.agent is required when runtime is "agent"$/],
  ['without instructions', { workload: { ...workload, agent: {} } }, /^workload\.agent\.instructions /],
  ['with an entry', { workload: { ...workload, entry: 'main.mjs' } }, /^workload\.entry belongs to runtime "node" or/],
  ['with an image', { workload: { ...workload, image: 'a.tar' } }, /^workload\.image belongs to runtime "oci"$/],
  ['with a processor', { workload: { ...workload, processor: 'x64' } }, /^workload\.processor belongs to/],
  [
    'that serves tools',
    { workload: { ...workload, mcp: { path: '/mcp' } } },
    /^workload\.mcp is for backends with code/,
  ],
  [
    'that is called by schedules',
    { workload: { ...workload, triggers: [{ name: 'a', path: '/a' }] } },
    /^workload\.triggers is for backends with code/,
  ],
  ['without a permission for its model', { permissions: [] }, /^permissions must ask for intelligence\.use/],
  ['for the internet', { publicEndpoints: ['GET:/a'] }, /^publicEndpoints is not for agents/],
  [
    'with a port',
    { publicPorts: [{ name: 'a', protocol: 'udp', containerPort: 5000 }] },
    /^publicPorts is not for agents/,
  ],
  [
    'with no tool calls',
    { workload: { ...workload, agent: { ...agent, maxToolCalls: 0 } } },
    /maxToolCalls must be at least 1$/,
  ],
  [
    'with too many',
    { workload: { ...workload, agent: { ...agent, maxToolCalls: 201 } } },
    /maxToolCalls must be at most 200$/,
  ],
  [
    'with half a model',
    { workload: { ...workload, agent: { ...agent, model: { id: 'm' } } } },
    /agent\.model\.provider /,
  ],
  [
    'outside its folder',
    { workload: { ...workload, agent: { instructions: '../a.md' } } },
    /agent\.instructions must be/,
  ],
  ['with more members', { workload: { ...workload, agent: { ...agent, tools: [] } } }, /^workload\.agent /],
];
for (const [what, more, fault] of cases)
  test(`an agent ${what} is refused`, () => {
    const faults = faultsOf(more);
    assert.ok(faults.length === 1 && fault.test(faults[0] ?? ''), JSON.stringify(faults));
  });

test('what only an agent has is refused of others', () => {
  const node = { runtime: 'node', entry: 'main.mjs', agent };
  assert.deepEqual(faultsOf({ workload: node }), ['workload.agent belongs to runtime "agent"']);
});
