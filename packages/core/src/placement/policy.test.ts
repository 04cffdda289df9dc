// Promise of the policy: whatever a grant allows a Gateway or its node, taking the grant away changes the policy, which is what
// a change of grants waits for.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { type GatewayPolicy, type Grant, gatewayPolicy } from '@platform/contract';
import { IntelligenceFile } from '../config/intelligence-file.ts';
import { type Declared, type Policy, policyOf } from './policy.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'policy-'));
after(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, 'providers.json');
writeFileSync(
  file,
  JSON.stringify({ providers: [{ id: 'local', baseUrl: 'http://127.0.0.1:1/v1', dialect: 'openai' }] }),
);
const { settings } = new IntelligenceFile(file);

const declared: Declared = {
  publicPorts: [{ name: 'game', protocol: 'udp', containerPort: 27_015 }],
  secretSlots: [{ name: 'issues', origin: 'https://api.example', pathPrefix: '/', methods: ['GET'] }] as NonNullable<
    Declared['secretSlots']
  >,
  publicEndpoints: ['GET:/hooks/*'] as NonNullable<Declared['publicEndpoints']>,
};

const granted: Readonly<Record<string, Grant>> = {
  models: { id: 'intelligence.use', resources: ['local:*'] },
  slot: { id: 'secrets.use', resources: ['issues'] },
  origin: { id: 'network.connect', resources: ['https://api.example'] },
  storage: { id: 'object-storage.raw', resources: ['self'] },
  routes: { id: 'endpoints.public', resources: ['*'] },
  internet: { id: 'network.public', resources: ['*'] },
  tunnel: { id: 'runtime.network-tunnel', resources: ['*'] },
  udp: { id: 'endpoints.public.udp', resources: ['UDP:*'] },
};

/** The grants that each member of the Gateway's policy needs. A new member does not compile without its line. */
const needs: Readonly<Record<keyof GatewayPolicy, readonly (keyof typeof granted)[]>> = {
  revision: [],
  intelligence: ['models'],
  outbound: ['slot', 'origin'],
  objectStorage: ['storage'],
  objectStorageRate: ['storage'],
  public: ['routes'],
  privateOrigins: ['models', 'storage'],
};
/** The same of the rest of an assignment. */
const beside: readonly (keyof typeof granted)[] = ['internet', 'tunnel', 'udp'];

const all = Object.values(granted);
const whole = policyOf(all, declared, settings);

test('every member of the policy of a Gateway has its grants here, and every grant here is tried', () => {
  assert.deepEqual(Object.keys(needs).sort(), Object.keys(gatewayPolicy.shape).sort());
  assert.deepEqual([...new Set([...Object.values(needs).flat(), ...beside])].sort(), Object.keys(granted).sort());
});

for (const name of Object.keys(granted)) {
  test(`without the grant of ${name} the policy is another, and with it the same`, () => {
    const grant = granted[name];
    assert.notDeepEqual(
      policyOf(
        all.filter((one) => one !== grant),
        declared,
        settings,
      ),
      whole,
    );
    assert.deepEqual(policyOf([...all].reverse(), declared, settings), whole);
  });
}

test('grants that core checks at each request change no policy', () => {
  const more: Grant[] = [
    ...all,
    { id: 'notifications.publish', resources: ['*'] },
    { id: 'search.index', resources: ['self'] },
  ];
  assert.deepEqual(policyOf(more, declared, settings), whole);
  const nothing: Policy = policyOf([], declared, settings);
  assert.deepEqual(nothing.publicRoutes, []);
  assert.deepEqual(nothing.providers.origins, []);
});
