// A change of version opens nothing to the internet that was not open before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant } from '@platform/contract';
import { carriedGrants } from './frontend-grants.ts';
import { openedByName } from './public-grants.ts';

const routes = (...resources: string[]): Grant => ({ id: 'endpoints.public', resources });
const ports = (...resources: string[]): Grant => ({ id: 'endpoints.public.udp', resources });
const BEFORE = {
  publicEndpoints: ['GET:/', 'POST:/hooks/*'],
  publicPorts: [{ name: 'game', protocol: 'udp', containerPort: 7777 }],
} as const;
const declared = { publicEndpoints: [...BEFORE.publicEndpoints], publicPorts: [...BEFORE.publicPorts] };

test('a wildcard gives way to the routes and ports that the installed version declares', () => {
  assert.deepEqual(openedByName([routes('*'), ports('UDP:*')], declared), [
    routes('GET:/', 'POST:/hooks/*'),
    ports('UDP:7777'),
  ]);
  assert.deepEqual(openedByName([routes('POST:*'), ports('UDP:auto')], declared), [routes('POST:/hooks/*')]);
});

test('what was granted by name, narrower ones too, and other permissions stay', () => {
  const news: Grant = { id: 'notifications.publish', resources: ['*'] };
  const held = [news, routes('POST:/hooks/a', 'GET:/'), ports('UDP:7777')];
  assert.deepEqual(openedByName(held, declared), [news, routes('GET:/', 'POST:/hooks/a'), ports('UDP:7777')]);
});

test('a version that declares more gets no more by an update, however wide the grant', () => {
  const requested = [{ id: 'endpoints.public' as const, resources: ['*'] }];
  assert.deepEqual(carriedGrants(openedByName([routes('*')], { publicEndpoints: ['GET:/feed'] }), requested), [
    routes('GET:/feed'),
  ]);
  assert.deepEqual(carriedGrants(openedByName([routes('*')], {}), requested), []);
});
