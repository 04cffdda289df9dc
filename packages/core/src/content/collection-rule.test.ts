// The rule of collections against a model that tries everything there is, act by act and collection by collection.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContentRole, Grant } from '@platform/contract';
import fc from 'fast-check';
import { thorough } from '../../../../tests/support/thorough.ts';
import { ACTS, type Act, allowedIn, type Link, type Standing, wouldLieInItself } from './collection-rule.ts';

const runs = { numRuns: thorough(400, 20_000) };

const IDS = ['a', 'b', 'c', 'd'] as const;
const KINDS = ['list', 'list.shared', 'note'] as const;
const role = fc.constantFrom<ContentRole | null>(null, null, 'viewer', 'editor', 'manager', 'owner');
const link = (id: string): fc.Arbitrary<Link> =>
  fc.record({ id: fc.constant(id), kind: fc.constantFrom(...KINDS), role, admitted: fc.boolean() });
const chain = fc
  .shuffledSubarray([...IDS], { minLength: 1 })
  .chain((ids) => fc.tuple(...ids.map(link)))
  .map((links) => [...links]);
const resource = fc.oneof(
  fc.constantFrom('*', 'list:*', 'list*', 'note:*', 'list.shared:*', 'l*', ':*', 'a', '', 'list', 'list:'),
  fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom(...IDS)).map(([kind, id]) => `${kind}:${id}`),
);
const grants: fc.Arbitrary<Grant[]> = fc.array(
  fc.record({
    id: fc.constantFrom(
      ...(['content.collections.read', 'content.collections.write', 'content.collections.manage'] as const),
      'search.index' as const,
    ),
    resources: fc.array(resource, { minLength: 1, maxLength: 2 }),
  }),
  { maxLength: 3 },
);
const standing: fc.Arbitrary<Standing> = fc.record({ chain, grants, ending: fc.boolean() });

/** As the contract says it, in so many words. */
function modelAllows({ chain: links, grants: held, ending }: Standing, act: Act): boolean {
  let byRole = false;
  let byAdmission = false;
  let byGrant = false;
  for (const { id, kind, role: one, admitted } of links) {
    if (admitted) byAdmission = true;
    if (one === 'owner' || one === 'manager') byRole = true;
    if (one === 'editor' && act !== 'manage') byRole = true;
    if (one === 'viewer' && act === 'read') byRole = true;
    for (const { id: permission, resources } of held) {
      const enough =
        permission === 'content.collections.manage' ||
        (permission === 'content.collections.write' && act !== 'manage') ||
        (permission === 'content.collections.read' && act === 'read');
      for (const pattern of resources) {
        const text = `${kind}:${id}`;
        const matches = pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
        if (enough && matches) byGrant = true;
      }
    }
  }
  return byRole && byAdmission && byGrant && (act === 'read' || !ending);
}

const actsOf = (one: Standing): Act[] => {
  const allowed = allowedIn(one);
  return allowed === null ? [] : ACTS.slice(0, ACTS.indexOf(allowed.act) + 1);
};

test('allowed is exactly what role, admission and grants allow, each in the collection or above it', () => {
  fc.assert(
    fc.property(standing, (one) => {
      assert.deepEqual(
        actsOf(one),
        ACTS.filter((act) => modelAllows(one, act)),
      );
    }),
    runs,
  );
});

test('taking a role, an admission or a grant away never allows more', () => {
  fc.assert(
    fc.property(standing, fc.nat(), (one, at) => {
      const { chain: links, grants: held } = one;
      const place = at % links.length;
      const without = (change: Partial<Link>) => links.map((each, n) => (n === place ? { ...each, ...change } : each));
      const lesser: Standing[] = [
        { ...one, chain: without({ role: null }) },
        { ...one, chain: without({ admitted: false }) },
        { ...one, grants: held.slice(1) },
        { ...one, ending: true },
      ];
      for (const less of lesser) assert.ok(actsOf(less).length <= actsOf(one).length);
    }),
    runs,
  );
});

test('who may do something in a collection may do it in everything within it', () => {
  fc.assert(
    fc.property(standing, fc.constantFrom(...KINDS), (one, kind) => {
      const within: Standing = {
        ...one,
        chain: [{ id: 'within', kind, role: null, admitted: false }, ...one.chain],
      };
      assert.ok(actsOf(within).length >= actsOf(one).length);
    }),
    runs,
  );
});

test('a chain that meets itself allows nothing', () => {
  fc.assert(
    fc.property(standing, fc.nat(), (one, at) => {
      const again = one.chain[at % one.chain.length];
      assert.ok(again);
      assert.equal(allowedIn({ ...one, chain: [...one.chain, again] }), null);
    }),
    runs,
  );
  assert.equal(allowedIn({ chain: [], grants: [], ending: false }), null);
});

test('any order of moves that the check lets through leaves a forest', () => {
  const moves = fc.array(fc.tuple(fc.constantFrom(...IDS), fc.option(fc.constantFrom(...IDS))), { maxLength: 20 });
  fc.assert(
    fc.property(moves, (all) => {
      const parents = new Map<string, string | null>(IDS.map((id) => [id, null]));
      const above = (from: string | null): { id: string }[] => {
        const links: { id: string }[] = [];
        for (let at = from; at !== null; at = parents.get(at) ?? null) {
          assert.ok(links.length <= IDS.length, 'a cycle');
          links.push({ id: at });
        }
        return links;
      };
      for (const [id, into] of all) if (!wouldLieInItself(id, above(into))) parents.set(id, into);
      for (const id of IDS) assert.ok(above(id).length <= IDS.length);
    }),
    runs,
  );
});
