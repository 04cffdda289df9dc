// What a change of an assignment means for a workload that runs: it goes on, or is started anew with a reason.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssignedProvider, Assignment } from '@platform/contract';
import { makeAssignment } from '../../test-support/core-double.ts';
import { fingerprintOf, whyRestart } from './start-relevant.ts';

const machine = { rebuildsForObjectStorage: true } as const;
const others = {};

const former = makeAssignment('a'.repeat(64), { udpPorts: [{ name: 'game', containerPort: 9_000 }] });

function provider(environment: AssignedProvider['environment']): AssignedProvider {
  return { provider: 'models', dialect: 'openai', environment };
}

interface Case {
  readonly change: Partial<Assignment>;
  /** Undefined: it runs on. */
  readonly machine?: RegExp;
  readonly others?: RegExp;
}

const cases: Readonly<Record<string, Case>> = {
  nothing: { change: {} },
  'another version': {
    change: { version: '2.0.0', packageHash: 'b'.repeat(64) },
    machine: /^Version 2\.0\.0 replaces 1\.0\.0\.$/,
    others: /^Version 2\.0\.0 replaces 1\.0\.0\.$/,
  },
  'another package of the same version': {
    change: { packageHash: 'b'.repeat(64) },
    machine: /^Restarting: its configuration/,
    others: /^Restarting: its configuration/,
  },
  'another manifest': {
    change: { workload: { ...former.workload, port: 8_081 } },
    machine: /^Restarting: its configuration/,
    others: /^Restarting: its configuration/,
  },
  'another capability': {
    change: { dataPlaneCapability: 'pdc_other' },
    machine: /^Restarting: its configuration/,
    others: /^Restarting: its configuration/,
  },
  'object storage granted': {
    change: { objectStorage: true },
    machine: /^Restarting: object storage was granted\.$/,
  },
  'the internet granted': { change: { network: { public: true, tunnel: false } } },
  'a UDP port revoked': { change: { udpPorts: [] } },
  'a UDP port with a number of its own granted': {
    change: { udpPorts: [...former.udpPorts, { name: 'other', containerPort: 9_001 }] },
  },
  'a UDP port granted whose number is in its environment': {
    change: { udpPorts: [...former.udpPorts, { name: 'voice', containerPort: 'auto' }] },
    machine: /UDP port\.$/,
    others: /UDP port\.$/,
  },
  'an AI provider granted whose address is in its environment': {
    change: { intelligence: [provider({ baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' })] },
    machine: /^Restarting: it may use an AI provider/,
    others: /^Restarting: it may use an AI provider/,
  },
  'an AI provider granted that has no variables': { change: { intelligence: [provider(null)] } },
  'a pause': { change: { paused: true } },
  'a permission to be moved': { change: { movable: true } },
};

for (const [name, { change, ...expected }] of Object.entries(cases)) {
  test(`${name}: ${expected.machine === undefined ? 'a machine runs on' : 'a machine is rebuilt'}`, () => {
    const next: Assignment = { ...former, ...change };
    for (const [driver, pattern] of [
      [machine, expected.machine],
      [others, expected.others],
    ] as const) {
      const why = whyRestart(former, next, driver);
      if (pattern === undefined) assert.equal(why, undefined);
      else assert.match(why ?? 'it runs on', pattern);
    }
  });
}

test('object storage taken away rebuilds a machine, and nothing that another Runtime may take over is ended for it', () => {
  const granted = { ...former, objectStorage: true };
  assert.equal(whyRestart(granted, former, machine), 'Restarting: object storage was revoked.');
  assert.equal(fingerprintOf(granted), fingerprintOf(former));
});

test('an AI provider taken away ends nothing: its calls are refused', () => {
  const granted = { ...former, intelligence: [provider({ baseUrl: 'A_URL', apiKey: 'A_KEY' })] };
  assert.equal(whyRestart(granted, former, others), undefined);
});
