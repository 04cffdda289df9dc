// Permissions are listed alike in the Store, in reviews and in Settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionId } from '@platform/contract';
import { byWeight, permissionWords } from './permission-words.ts';

test('what weighs most comes first, and what weighs the same in the order of its words', () => {
  const ids: PermissionId[] = [
    'notifications.publish',
    'network.connect',
    'apps.lifecycle',
    'endpoints.public',
    'runtime.pause',
  ];
  const sorted = ids.map((id) => ({ id })).toSorted(byWeight);
  assert.deepEqual(
    sorted.map(({ id }) => id),
    ['endpoints.public', 'runtime.pause', 'network.connect', 'apps.lifecycle', 'notifications.publish'],
    sorted.map(({ id }) => permissionWords(id)).join(', '),
  );
});
