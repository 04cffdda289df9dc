// What the review of an update calls new.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionsView, RequestedGrant } from '@platform/contract';
import { newRequests, requestsByRoute } from './new-requests.ts';

const connect = (...resources: string[]): RequestedGrant => ({ id: 'network.connect', resources });
const topics = (...resources: string[]): RequestedGrant => ({ id: 'notifications.publish', resources, reason: 'news' });

function held(...requested: RequestedGrant[]): PermissionsView {
  return { permissions: [], setAside: [], requested, resources: null, revision: 1 };
}

test('what the installed version requested is not new, also where the person turned it off', () => {
  assert.deepEqual(newRequests([topics('news')], held(topics('news'))), []);
  assert.deepEqual(newRequests([topics('news')], held(topics('*'))), []);
  assert.deepEqual(newRequests([topics('news', 'storms')], held(topics('news'))), [topics('storms')]);
  assert.deepEqual(newRequests([topics('*')], held(topics('news'))), [topics('*')]);
  assert.deepEqual(newRequests([topics('news')], held()), [topics('news')]);
});

test('an address is new unless it was requested by name', () => {
  const evil = 'https://evil.example';
  for (const before of ['*', 'https://*', 'https://evil.*', 'https://other.example'])
    assert.deepEqual(newRequests([connect(evil)], held(connect(before))), [connect(evil)], before);
  assert.deepEqual(newRequests([connect(evil)], held(connect('*', evil))), []);
  assert.deepEqual(newRequests([connect('*')], held(connect('*'))), []);
});

test('public routes are reviewed by name, and one that an update declares is new, however wide the former request was', () => {
  const all: RequestedGrant = { id: 'endpoints.public', resources: ['*'], reason: 'webhooks' };
  const routes = (...resources: string[]): RequestedGrant => ({ ...all, resources });
  assert.deepEqual(requestsByRoute([topics('news'), all], ['GET:/feed']), [topics('news'), routes('GET:/feed')]);
  assert.deepEqual(requestsByRoute([all], []), []);
  const before = held(...requestsByRoute([all], ['GET:/feed']));
  assert.deepEqual(newRequests(requestsByRoute([all], ['GET:/feed', 'POST:/hooks/*']), before), [
    routes('POST:/hooks/*'),
  ]);
  assert.deepEqual(newRequests(requestsByRoute([all], ['GET:/feed']), before), []);
});
