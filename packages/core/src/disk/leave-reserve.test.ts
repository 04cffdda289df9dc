// On a full disk apps add nothing to the database beside it, and everything else goes on.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { RefusalError, type RouteSpec, routes } from '@platform/contract';
import { leavingReserve } from './leave-reserve.ts';

/** A file system without a free byte, on every Linux. */
const FULL = '/proc';

test('what apps may add waits while only the reserve is left', () => {
  assert.throws(
    leavingReserve(FULL),
    (error) => error instanceof RefusalError && error.refusal.code === 'unavailable' && error.refusal.retryAfter === 60,
  );
});

test('with space nothing is held back', () => {
  leavingReserve(tmpdir())();
});

/** By the session, for the page of an app. */
const FOR_APPS = [
  'account.files.save',
  'apps.mcp.call',
  'apps.pageErrors.report',
  'apps.searchIndex',
  'apps.wallet.payments',
  'apps.wallet.policies',
];

test('only what apps, connected clients and address books add waits: people register, sign in, and everybody reads and removes', () => {
  const filling = Object.entries<RouteSpec>(routes).filter(([, { fillsDatabase }]) => fillsDatabase);
  assert.ok(filling.length > 0);
  for (const [id, { method, callers }] of filling) {
    assert.ok(method === 'POST' || method === 'PUT' || method === 'PATCH', id);
    const isOfApps = callers.every((kind) => ['installation', 'frontend', 'connection'].includes(kind));
    const forApp = FOR_APPS.includes(id);
    assert.ok(isOfApps || forApp || id.startsWith('account.contacts.'), id);
  }
});
