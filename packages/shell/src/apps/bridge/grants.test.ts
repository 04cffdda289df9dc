// Coverage of targets by grants, as the shell judges it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant } from '@platform/contract';
import { covers, holds, resourcesOf } from './grants.ts';

const grants: readonly Grant[] = [
  { id: 'apps.lifecycle', resources: ['notes', 'team-*'] },
  { id: 'apps.install', resources: ['*'] },
  { id: 'apps.uninstall', resources: [] },
];

const cases: readonly (readonly [string, boolean])[] = [
  ['notes', true],
  ['notes2', false],
  ['note', false],
  ['team-', true],
  ['team-chat', true],
  ['team', false],
  ['*', false],
  ['', false],
];

for (const [target, covered] of cases) {
  test(`notes and team-* ${covered ? 'cover' : 'do not cover'} "${target}"`, () => {
    assert.equal(covers(grants, 'apps.lifecycle', target), covered);
  });
}

test('a bare wildcard covers every target of its own permission and none of another', () => {
  assert.equal(covers(grants, 'apps.install', 'anything'), true);
  assert.equal(covers(grants, 'runtime.pause', 'anything'), false);
});

test('a permission whose list of resources is empty is not held', () => {
  assert.equal(holds(grants, 'apps.uninstall'), false);
  assert.deepEqual(resourcesOf(grants, 'apps.uninstall'), []);
});
