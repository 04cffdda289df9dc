// Coverage of grants, held against what a pattern means: the set of resources that it matches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Grant, grant, isPermissionId, matchesResource, type PermissionId, permissions } from '@platform/contract';
import { fc } from '../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import { allows, excessGrants, intersectGrants, normaliseGrants, resourcesOf } from './grant-coverage.ts';

const ids = Object.keys(permissions).filter(isPermissionId).slice(0, 4);
// A small alphabet, so that prefixes and collisions are the rule and not the exception.
const text = fc.string({ unit: fc.constantFrom('a', 'b', ':'), maxLength: 4 });
const exact = text.filter((value) => value !== '');
const wildcard = text.map((prefix) => `${prefix}*`);
const resource = fc.oneof(exact, wildcard);
const oneGrant: fc.Arbitrary<Grant> = fc.record({
  id: fc.constantFrom(...ids),
  resources: fc.array(resource, { maxLength: 5 }),
});
const grants = fc.array(oneGrant, { maxLength: 6 });
const runs = { numRuns: thorough(500, 20_000) };

const picks = fc.array(fc.tuple(fc.nat(), fc.nat(), text, fc.boolean()), { maxLength: 6 });
/** Grants that stay within `list`: its own resources, or for a wildcard anything longer. */
function within(list: readonly Grant[], choices: readonly [number, number, string, boolean][]): Grant[] {
  return choices.flatMap(([which, at, more, open]) => {
    const { id, resources } = list[which % list.length] ?? { id: ids[0], resources: [] };
    const chosen = resources[at % resources.length];
    if (id === undefined || chosen === undefined) return [];
    const longer = chosen.slice(0, -1) + more + (open ? '*' : '');
    return [{ id, resources: [chosen.endsWith('*') && longer !== '' ? longer : chosen] }];
  });
}

/** What a pattern means, said without the function under test: a regular expression over concrete resources. */
function means(pattern: string, concrete: string): boolean {
  const body = pattern.replace(/\*$/, '');
  return new RegExp(`^${body}${pattern.endsWith('*') ? '.*' : ''}$`, 'u').test(concrete);
}

/** Every concrete resource of the alphabet up to the length in which two patterns of it can still differ. */
const universe = (() => {
  let longest = [''];
  const all: string[] = [];
  for (let length = 1; length <= 5; length += 1) {
    longest = longest.flatMap((prefix) => ['a', 'b', ':'].map((letter) => prefix + letter));
    all.push(...longest);
  }
  return all;
})();

function covers(requested: readonly Grant[], granted: readonly Grant[]): boolean {
  return excessGrants(requested, granted).length === 0;
}

test('a pattern matches exactly the resources it means', () => {
  fc.assert(
    fc.property(resource, exact, (pattern, concrete) => {
      assert.equal(matchesResource(pattern, concrete), means(pattern, concrete));
    }),
    runs,
  );
});

test('a pattern covers another one exactly when it matches every resource of the other', () => {
  fc.assert(
    fc.property(resource, resource, (one, other) => {
      const subset = universe.every((concrete) => !means(other, concrete) || means(one, concrete));
      // An exact resource and the wildcard with the same text overlap in one resource; only the wildcard is the wider.
      const wider = other.endsWith('*') && !one.endsWith('*') ? false : subset;
      assert.equal(matchesResource(one, other), wider);
    }),
    { numRuns: thorough(200, 5_000) },
  );
});

test('a wildcard is covered by equal or wider wildcards only', () => {
  fc.assert(
    fc.property(wildcard, resource, (granted, requested) => {
      const prefix = requested.slice(0, -1);
      assert.equal(
        matchesResource(requested, granted),
        requested.endsWith('*') && granted.slice(0, -1).startsWith(prefix),
      );
    }),
    runs,
  );
});

test('an exact resource is covered by itself and by wildcards that match it', () => {
  fc.assert(
    fc.property(exact, resource, (granted, requested) => {
      assert.equal(matchesResource(requested, granted), requested === granted || means(requested, granted));
    }),
    runs,
  );
});

test('a prefix ends where the wildcard says, not where a word looks alike', () => {
  const held: Grant[] = [{ id: 'notifications.publish', resources: ['research:*'] }];
  assert.equal(allows(held, 'notifications.publish', 'research:daily'), true);
  assert.equal(allows(held, 'notifications.publish', 'research:'), true);
  for (const other of ['researcher', 'research', 'Research:daily', ' research:daily', 'x-research:daily', '*', 're*'])
    assert.equal(allows(held, 'notifications.publish', other), false, other);
  assert.equal(allows(held, 'notifications.read', 'research:daily'), false, 'another permission id');
});

test('signs of regular expressions in a resource mean themselves', () => {
  assert.equal(matchesResource('a.b', 'axb'), false);
  assert.equal(matchesResource('(a+)*', '(a+)b'), true);
  assert.equal(matchesResource('(a+)*', 'aab'), false);
});

test('coverage is reflexive', () => {
  fc.assert(
    fc.property(grants, (list) => covers(list, list)),
    runs,
  );
});

test('coverage is transitive', () => {
  fc.assert(
    fc.property(grants, picks, picks, (a, first, second) => {
      const b = within(a, first);
      const c = within(b, second);
      assert.ok(covers(a, b) && covers(b, c));
      assert.ok(covers(a, c));
    }),
    runs,
  );
});

test('a longer request never covers less', () => {
  fc.assert(
    fc.property(grants, oneGrant, grants, (requested, more, granted) => {
      const before = excessGrants(requested, granted).length;
      assert.ok(excessGrants([...requested, more], granted).length <= before);
    }),
    runs,
  );
});

test('removing a request never widens what is covered', () => {
  fc.assert(
    fc.property(grants, fc.nat(), grants, (requested, at, granted) => {
      fc.pre(requested.length > 0);
      const fewer = requested.filter((_, index) => index !== at % requested.length);
      const lost = excessGrants(fewer, granted).map(
        ({ grantIndex, resourceIndex }) => `${grantIndex}.${resourceIndex}`,
      );
      for (const { grantIndex, resourceIndex } of excessGrants(requested, granted))
        assert.ok(lost.includes(`${grantIndex}.${resourceIndex}`));
    }),
    runs,
  );
});

test('what covered grants allow, the request allows too', () => {
  fc.assert(
    fc.property(grants, picks, (requested, choices) => {
      const granted = within(requested, choices);
      for (const { id } of granted) {
        for (const concrete of universe)
          assert.ok(!allows(granted, id, concrete) || allows(requested, id, concrete), concrete);
      }
    }),
    { numRuns: thorough(150, 3_000) },
  );
});

test('a grant that exceeds its request is named with its place in the list', () => {
  const requested: Grant[] = [{ id: 'notifications.publish', resources: ['notes', 'research:*'] }];
  const granted: Grant[] = [
    { id: 'notifications.publish', resources: ['notes', 'research:*', 'research*', '*'] },
    { id: 'search.index', resources: ['self'] },
  ];
  assert.deepEqual(excessGrants(requested, granted), [
    { id: 'notifications.publish', resource: 'research*', grantIndex: 0, resourceIndex: 2 },
    { id: 'notifications.publish', resource: '*', grantIndex: 0, resourceIndex: 3 },
    { id: 'search.index', resource: 'self', grantIndex: 1, resourceIndex: 0 },
  ]);
});

test('exceeding resources are exactly those that are not allowed by the request', () => {
  fc.assert(
    fc.property(grants, grants, (requested, granted) => {
      const expected = granted.flatMap(({ id, resources }) =>
        resources.filter((one) => !allows(requested, id, one)).map((one) => `${id} ${one}`),
      );
      assert.deepEqual(
        excessGrants(requested, granted).map(({ id, resource: one }) => `${id} ${one}`),
        expected,
      );
    }),
    runs,
  );
});

test('stored grants name each id once, each resource once and never nothing', () => {
  fc.assert(
    fc.property(grants, (list) => {
      const stored = normaliseGrants(list);
      assert.equal(new Set(stored.map(({ id }) => id)).size, stored.length);
      for (const one of stored) {
        assert.deepEqual(one, grant.parse(one));
        assert.ok(one.resources.length > 0);
        assert.equal(new Set(one.resources).size, one.resources.length);
      }
      assert.deepEqual(normaliseGrants(stored), stored, 'storing again changes nothing');
      assert.ok(covers(list, stored) && covers(stored, list), 'nothing is lost and nothing is added');
    }),
    runs,
  );
});

test('duplicate ids are merged and empty lists are dropped', () => {
  const publish: PermissionId = 'notifications.publish';
  assert.deepEqual(
    normaliseGrants([
      { id: publish, resources: ['a'] },
      { id: 'search.index', resources: [] },
      { id: publish, resources: ['b', 'a'] },
    ]),
    [{ id: publish, resources: ['a', 'b'] }],
  );
});

test('only id and resources of a request are stored', () => {
  const requested = [{ id: 'search.index' as const, resources: ['self'], reason: 'finds your notes' }];
  assert.deepEqual(normaliseGrants(requested), [{ id: 'search.index', resources: ['self'] }]);
});

test('an upgrade allows exactly what the held grants and the new request both allow', () => {
  fc.assert(
    fc.property(grants, grants, (held, requested) => {
      const kept = intersectGrants(held, requested);
      assert.ok(covers(held, kept), 'never wider than what was held');
      assert.ok(covers(requested, kept), 'never wider than the new request');
      for (const id of ids) {
        for (const concrete of universe.slice(0, 120)) {
          assert.equal(allows(kept, id, concrete), allows(held, id, concrete) && allows(requested, id, concrete));
        }
      }
    }),
    { numRuns: thorough(200, 5_000) },
  );
});

test('the resources of an id are listed once, and none for an id that is not held', () => {
  const held: Grant[] = [
    { id: 'mcp.tools.call', resources: ['a', 'b*'] },
    { id: 'mcp.tools.call', resources: ['a'] },
  ];
  assert.deepEqual(resourcesOf(held, 'mcp.tools.call'), ['a', 'b*']);
  assert.deepEqual(resourcesOf(held, 'mcp.tools.serve'), []);
});
