// The choices of a permission review never go beyond what an app asked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Grant, isCritical, type PermissionId, permissions, type RequestedGrant } from '@platform/contract';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { covers } from '../../apps/bridge/grants.ts';
import {
  grantsAfterReview,
  grantsOf,
  offeredResources,
  presentChoice,
  proposedChoice,
  sameChoice,
  sameGrants,
  withPermission,
  withResource,
} from './narrowing.ts';

const requested: readonly RequestedGrant[] = [
  { id: 'notifications.publish', resources: ['news', 'weekly'], reason: 'Tells you what is new.' },
  { id: 'runtime.pause', resources: ['*'] },
];

test('critical permissions are off until a person turns them on', () => {
  const proposed = proposedChoice(requested);
  assert.deepEqual(grantsOf(proposed), [{ id: 'notifications.publish', resources: ['news', 'weekly'] }]);
  const [, critical] = requested;
  assert.ok(critical);
  assert.deepEqual(grantsOf(withPermission(proposed, critical, true)).at(-1), {
    id: 'runtime.pause',
    resources: ['*'],
  });
});

test('unchecking the last resource of a permission takes the permission away', () => {
  let choice = proposedChoice(requested);
  choice = withResource(choice, 'notifications.publish', 'news', false);
  assert.deepEqual(grantsOf(choice), [{ id: 'notifications.publish', resources: ['weekly'] }]);
  choice = withResource(choice, 'notifications.publish', 'weekly', false);
  assert.deepEqual(grantsOf(choice), []);
});

test('what is granted now is shown, also where it is narrower than the request', () => {
  const [first] = requested;
  assert.ok(first);
  const present = presentChoice(
    [{ id: 'apps.lifecycle', resources: ['*'] }],
    [{ id: 'apps.lifecycle', resources: ['notes'] }],
  );
  assert.deepEqual(grantsOf(present), [{ id: 'apps.lifecycle', resources: ['notes'] }]);
  assert.deepEqual(offeredResources({ id: 'apps.lifecycle', resources: ['*'] }, new Set(['notes'])), ['*', 'notes']);
});

test('what a review showed and the person left unchecked is not held afterwards, though an earlier version held it', () => {
  const before: Grant[] = [{ id: 'notifications.publish', resources: ['old'] }];
  const held = { permissions: before, setAside: [], requested: before, resources: null, revision: 1 };
  const kept: Grant[] = [
    { id: 'search.index', resources: ['self'] },
    { id: 'notifications.publish', resources: ['news', 'old'] },
    { id: 'runtime.pause', resources: ['*'] },
  ];
  const chosen: Grant[] = [{ id: 'notifications.publish', resources: ['weekly'] }];
  assert.deepEqual(grantsAfterReview(kept, { held, shown: requested, chosen }), [
    { id: 'search.index', resources: ['self'] },
    { id: 'notifications.publish', resources: ['old', 'weekly'] },
  ]);
  const wider: RequestedGrant[] = [{ id: 'notifications.publish', resources: ['*'] }];
  assert.deepEqual(grantsAfterReview(before, { held, shown: wider, chosen: [] }), before, 'what it held it keeps');
  assert.equal(sameGrants(kept, grantsAfterReview(kept, { held, shown: [], chosen: [] })), true);
  assert.equal(sameGrants(kept, grantsAfterReview(kept, { held, shown: requested, chosen: [] })), false);
});

test('two choices are the same whatever the order of their resources', () => {
  const one = presentChoice(requested, [{ id: 'notifications.publish', resources: ['news', 'weekly'] }]);
  const other = presentChoice(requested, [{ id: 'notifications.publish', resources: ['weekly', 'news'] }]);
  assert.equal(sameChoice(one, other), true);
  assert.equal(sameChoice(one, proposedChoice([])), false);
});

const ids = Object.keys(permissions) as PermissionId[];
const arbitraryRequest: fc.Arbitrary<readonly RequestedGrant[]> = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(...ids),
    resources: fc.uniqueArray(fc.constantFrom('*', 'self', 'news', 'team-*', 'notes'), { minLength: 1 }),
  }),
  { selector: ({ id }) => id, maxLength: 6 },
);

test('whatever a person checks and unchecks, every grant sent is covered by the request', () => {
  fc.assert(
    fc.property(
      arbitraryRequest,
      fc.array(fc.record({ at: fc.nat(), resource: fc.nat(), granted: fc.boolean(), whole: fc.boolean() })),
      (request, presses) => {
        let choice = proposedChoice(request);
        for (const press of presses) {
          const row = request[press.at % Math.max(request.length, 1)];
          if (row === undefined) continue;
          const resource = row.resources[press.resource % row.resources.length] ?? '';
          choice = press.whole
            ? withPermission(choice, row, press.granted)
            : withResource(choice, row.id, resource, press.granted);
        }
        for (const grant of grantsOf(choice)) {
          assert.ok(grant.resources.length > 0);
          assert.equal(new Set(grant.resources).size, grant.resources.length);
          for (const resource of grant.resources) assert.ok(covers(request, grant.id, resource));
        }
      },
    ),
  );
});

test('the proposal holds everything but what is critical', () => {
  fc.assert(
    fc.property(arbitraryRequest, (request) => {
      const proposed = proposedChoice(request);
      for (const { id, resources } of request)
        for (const resource of resources)
          assert.equal(proposed.get(id)?.has(resource), !isCritical(id, resource), `${id} ${resource}`);
    }),
  );
});
