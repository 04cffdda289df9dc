// Permissions are listed alike in the Store, in reviews and in Settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionId } from '@platform/contract';
import { byWeight, isPowerful, permissionWords } from './permission-words.ts';

test('what weighs most comes first, and what weighs the same in the order of its words', () => {
  const ids: PermissionId[] = [
    'notifications.publish',
    'network.connect',
    'network.public',
    'mcp.tools.call',
    'apps.lifecycle',
    'endpoints.public',
    'runtime.pause',
  ];
  const sorted = ids.map((id) => ({ id, resources: ['*'] })).toSorted(byWeight);
  assert.deepEqual(
    sorted.map(({ id }) => id),
    [
      'endpoints.public',
      'runtime.pause',
      'mcp.tools.call',
      'network.public',
      'network.connect',
      'apps.lifecycle',
      'notifications.publish',
    ],
    sorted.map(({ id }) => permissionWords(id)).join(', '),
  );
});

test('a permission that is critical on everything weighs less where it names what it is for', () => {
  assert.equal(isPowerful({ id: 'mcp.tools.call', resources: ['notes.add', '*'] }), true);
  assert.equal(isPowerful({ id: 'mcp.tools.call', resources: ['notes.*'] }), false);
});
