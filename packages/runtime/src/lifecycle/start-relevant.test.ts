// What a change of an assignment means for a workload that runs: it goes on, or is started anew with a reason.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssignedProvider, Assignment } from '@platform/contract';
import { makeAssignment } from '../../test-support/core-double.ts';
import { fingerprintOf, whyRestart } from './start-relevant.ts';

const former = makeAssignment('a'.repeat(64), { udpPorts: [{ name: 'game', containerPort: 9_000 }] });

function provider(environment: AssignedProvider['environment']): AssignedProvider {
  return { provider: 'models', dialect: 'openai', environment };
}

interface Case {
  readonly change: Partial<Assignment>;
  /** Undefined: it runs on. */
  readonly why?: RegExp;
}

const cases: Readonly<Record<string, Case>> = {
  nothing: { change: {} },
  'another version': {
    change: { version: '2.0.0', packageHash: 'b'.repeat(64) },
    why: /^Version 2\.0\.0 replaces 1\.0\.0\.$/,
  },
  'another package of the same version': {
    change: { packageHash: 'b'.repeat(64) },
    why: /^Restarting: its configuration/,
  },
  'another manifest': {
    change: { workload: { ...former.workload, port: 8_081 } },
    why: /^Restarting: its configuration/,
  },
  'another endpoint': { change: { endpointId: 'other' }, why: /^Restarting: its configuration/ },
  'capabilities of clients that ended': { change: { clientsRevision: 1 } },
  'the capability that a core gives to nodes of former versions': { change: { dataPlaneCapability: 'pdc_other' } },
  'object storage granted': {
    change: { objectStorage: true },
    why: /^Restarting: it gets object storage\.$/,
  },
  'the internet granted': { change: { network: { public: true, tunnel: false } } },
  'a UDP port revoked': { change: { udpPorts: [] } },
  'a UDP port with a number of its own granted': {
    change: { udpPorts: [...former.udpPorts, { name: 'other', containerPort: 9_001 }] },
  },
  'a UDP port granted whose number is in its environment': {
    change: { udpPorts: [...former.udpPorts, { name: 'voice', containerPort: 'auto' }] },
    why: /UDP port\.$/,
  },
  'an AI provider granted whose address is in its environment': {
    change: { intelligence: [provider({ baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' })] },
    why: /^Restarting: it may use an AI provider/,
  },
  'an AI provider granted that has no variables': { change: { intelligence: [provider(null)] } },
  'a pause': { change: { paused: true } },
  'a permission to be moved': { change: { movable: true } },
};

for (const [name, { change, why }] of Object.entries(cases)) {
  test(`${name}: ${why === undefined ? 'it runs on' : 'it is started anew'}`, () => {
    const found = whyRestart(former, { ...former, ...change });
    if (why === undefined) assert.equal(found, undefined);
    else assert.match(found ?? 'it runs on', why);
  });
}

test('object storage taken away starts it anew, and what an earlier Runtime started with it is not taken over', () => {
  const granted = { ...former, objectStorage: true };
  assert.equal(whyRestart(granted, former), 'Restarting: it loses its object storage.');
  assert.notEqual(fingerprintOf(granted), fingerprintOf(former));
});

test('an AI provider taken away ends nothing: its calls are refused', () => {
  const granted = { ...former, intelligence: [provider({ baseUrl: 'A_URL', apiKey: 'A_KEY' })] };
  assert.equal(whyRestart(granted, former), undefined);
});
