// What a backend may use: granted by a review, never more by a change of version.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../tests/support/fast-check.ts';
import {
  acceptedResources,
  askedResources,
  carriedResources,
  grantedWorkload,
  grantsBackend,
  noResources,
  resourcesBeyond,
  resourcesInForce,
  standardResources,
} from './backend-resources.ts';
import type { BackendResources } from './domains/grants.ts';
import { workloadManifest } from './domains/packages.ts';

const anyResources: fc.Arbitrary<BackendResources> = fc.record({
  mode: fc.constantFrom('automatic' as const, 'always' as const),
  idleSeconds: fc.integer({ min: 5, max: 86_400 }),
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

test('without a granted backend nothing is carried over but the size of a volume, and nothing runs', () => {
  fc.assert(
    fc.property(anyResources, fc.integer({ min: 0, max: 1_048_576 }), (asked, diskMiB) => {
      const held = { ...noResources, diskMiB };
      assert.deepEqual(carriedResources(held, asked), held);
      assert.equal(resourcesInForce({ ...asked, volume: true, resources: asked }, held), null);
      assert.ok(grantsBackend(acceptedResources(held, asked)));
    }),
  );
});

test('a backend is placed and started within its snapshot', () => {
  const workload = workloadManifest.parse({
    runtime: 'node',
    entry: 'a.mjs',
    mode: 'always',
    volume: true,
    resources: { memoryMiB: 1_024, diskMiB: 5_000 },
  });
  const granted = { mode: 'automatic', idleSeconds: 60, memoryMiB: 128, cpus: 1, pids: 64, diskMiB: 0 } as const;
  const within = grantedWorkload(workload, granted);
  assert.ok(within);
  assert.deepEqual(
    [within.mode, within.idleSeconds, within.resources.memoryMiB, within.volume],
    ['automatic', 60, 128, false],
  );
  assert.deepEqual(workloadManifest.parse(within), within, 'nodes read it');
  const unlimited = grantedWorkload(workload, null);
  assert.ok(unlimited);
  assert.deepEqual(askedResources(unlimited), askedResources(workload));
  assert.equal(grantedWorkload(workload, noResources), undefined);
  assert.equal(grantedWorkload(undefined, granted), undefined);
  assert.deepEqual(resourcesInForce(workload, granted), granted);
});

test('a backend stays awake no longer than was granted, and what may run all the time may stay awake for any time', () => {
  const short = { ...standardResources, idleSeconds: 60 };
  const long = { ...standardResources, idleSeconds: 3_600 };
  const always = { ...standardResources, mode: 'always' as const };
  assert.deepEqual(resourcesBeyond(short, long), ['idleSeconds']);
  assert.deepEqual(resourcesBeyond(long, short), []);
  assert.equal(carriedResources(short, long).idleSeconds, 60);
  assert.equal(carriedResources(long, short).idleSeconds, 60, 'going back and forth accumulates nothing');
  assert.deepEqual(resourcesBeyond(always, long), []);
  assert.deepEqual(carriedResources(always, long), long);
  assert.deepEqual(resourcesBeyond(short, { ...long, mode: 'always' }), ['mode'], 'which says it all');
  const { idleSeconds: _, ...former } = short;
  const unknown = former as BackendResources;
  assert.deepEqual(resourcesBeyond(unknown, long), [], 'a row of a former version has what its manifest says');
  assert.equal(carriedResources(unknown, long).idleSeconds, 3_600);
});
