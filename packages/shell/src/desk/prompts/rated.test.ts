// Which rating a review shows: of what is left on, of what is granted now, and of what an update would leave.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CatalogDetail, type Grant, type PermissionsView, standardResources } from '@platform/contract';
import { chosenRating, presentRating, updatedRating } from './rated.ts';

const send: Grant = { id: 'messaging.send', resources: ['*'] };
const read: Grant = { id: 'messaging.read', resources: ['*'] };
const news: Grant = { id: 'notifications.publish', resources: ['news'] };
const topics: Grant = { id: 'notifications.publish', resources: ['*'] };

type Rated = Pick<CatalogDetail, 'permissions' | 'backend' | 'resources'>;

const version = (permissions: Grant[], mode?: 'automatic' | 'always'): Rated =>
  mode === undefined
    ? { permissions, backend: null, resources: null }
    : { permissions, backend: { runtime: 'node', processor: null }, resources: { ...standardResources, mode } };

const held = (permissions: Grant[], more: Partial<PermissionsView> = {}): PermissionsView => ({
  ...{ permissions, setAside: [], requested: permissions, resources: null, revision: 1 },
  ...more,
});

const granted = (mode: 'automatic' | 'always') => {
  const resources = { ...standardResources, mode };
  return { resources: { runtime: 'node', granted: resources, requested: resources } };
};

test('a review rates what is left on, not what is asked for', () => {
  const detail = version([read, send]);
  assert.equal(chosenRating(detail, [read, send]).rating, 1);
  assert.equal(chosenRating(detail, [read]).rating, 2);
  assert.equal(chosenRating(detail, []).rating, 5);
  assert.equal(chosenRating(version([], 'always'), []).rating, 4);
});

test('an installed app is rated by what it was granted; a backend that waits for its review does not count', () => {
  assert.equal(presentRating(held([]), [read]).rating, 2);
  assert.equal(presentRating(held([], granted('always')), []).rating, 4);
  const waiting = { runtime: 'node', granted: null, requested: { ...standardResources, mode: 'always' as const } };
  assert.equal(presentRating(held([], { resources: waiting }), []).rating, 5);
});

const nothing = { permissions: [], acceptResources: false };

test('an update keeps what its version asks for as well, and adds what is left on', () => {
  assert.equal(updatedRating(version([read, send]), held([read]), nothing).rating, 2);
  assert.equal(updatedRating(version([read, send]), held([read]), { ...nothing, permissions: [send] }).rating, 1);
  assert.equal(updatedRating(version([news]), held([read, news]), nothing).rating, 4, 'what it no longer asks for');
  assert.equal(updatedRating(version([news]), held([topics]), nothing).rating, 4, 'the narrower of the two');
  assert.equal(updatedRating(version([topics]), held([news]), nothing).rating, 4);
});

test('what was set aside comes back with a version that asks for it', () => {
  const former = held([news], { setAside: [read] });
  assert.equal(presentRating(former, former.permissions).rating, 4);
  assert.equal(updatedRating(version([news, read]), former, { ...nothing, permissions: [read] }).rating, 2);
  assert.equal(updatedRating(version([news, read]), former, nothing).rating, 4, 'shown, and left unchecked');
});

test('a backend that is to run all the time does so once that is accepted', () => {
  assert.equal(updatedRating(version([], 'always'), held([], granted('automatic')), nothing).rating, 5);
  const accepted = { ...nothing, acceptResources: true };
  assert.equal(updatedRating(version([], 'always'), held([], granted('automatic')), accepted).rating, 4);
  assert.equal(updatedRating(version([], 'always'), held([], granted('always')), nothing).rating, 4);
  assert.equal(updatedRating(version([], 'always'), held([]), nothing).rating, 5, 'a first one stays off');
});
