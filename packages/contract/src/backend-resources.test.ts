// What a backend may use: granted by a review, never more by a change of version.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../tests/support/fast-check.ts';
import {
  acceptedResources,
  askedResources,
  carriedResources,
  grantedWorkload,
  noResources,
  resourcesBeyond,
  resourcesInForce,
  standardResources,
} from './backend-resources.ts';
import type { BackendResources } from './domains/grants.ts';
import { workloadManifest } from './domains/packages.ts';

const anyResources: fc.Arbitrary<BackendResources> = fc.record({
  mode: fc.constantFrom('automatic' as const, 'always' as const),
  memoryMiB: fc.integer({ min: 32, max: 65_536 }),
  cpus: fc.integer({ min: 1, max: 64 }),
  pids: fc.integer({ min: 8, max: 4_096 }),
  diskMiB: fc.integer({ min: 0, max: 1_048_576 }),
});

test('what is carried over goes beyond neither what was held nor, but for the disk, what is asked', () => {
  fc.assert(
    fc.property(anyResources, anyResources, (held, asked) => {
      const carried = carriedResources(held, asked);
      assert.deepEqual(resourcesBeyond(held, carried), []);
      assert.deepEqual(resourcesBeyond({ ...asked, diskMiB: held.diskMiB }, carried), []);
      assert.deepEqual(carriedResources(carried, asked), carried, 'again');
    }),
  );
});

test('what a person accepts covers all that is asked, and no volume shrinks', () => {
  fc.assert(
    fc.property(anyResources, anyResources, (held, asked) => {
      const accepted = acceptedResources(held, asked);
      assert.deepEqual(resourcesBeyond(accepted, asked), []);
      assert.ok(accepted.diskMiB >= held.diskMiB);
    }),
  );
});

test('a first backend gets the standard at most, on demand and without a volume', () => {
  const asked = { mode: 'always', memoryMiB: 4_096, cpus: 8, pids: 2_000, diskMiB: 100_000 } as const;
  assert.deepEqual(carriedResources(noResources, asked), standardResources);
  assert.equal(carriedResources(noResources, { ...asked, memoryMiB: 64 }).memoryMiB, 64);
});

test('a backend is placed and started within its snapshot', () => {
  const workload = workloadManifest.parse({
    runtime: 'node',
    entry: 'a.mjs',
    mode: 'always',
    volume: true,
    resources: { memoryMiB: 1_024, diskMiB: 5_000 },
  });
  const granted = { mode: 'automatic', memoryMiB: 128, cpus: 1, pids: 64, diskMiB: 0 } as const;
  const within = grantedWorkload(workload, granted);
  assert.deepEqual([within.mode, within.resources.memoryMiB, within.volume], ['automatic', 128, false]);
  assert.deepEqual(workloadManifest.parse(within), within, 'nodes read it');
  assert.deepEqual(askedResources(grantedWorkload(workload, null)), askedResources(workload));
  assert.deepEqual(resourcesInForce(workload, granted), granted);
});
