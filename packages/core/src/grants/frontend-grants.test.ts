// Outside origins as grants: what opens a policy, what an older package asks for, and what survives a change of version.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant, RequestedGrant } from '@platform/contract';
import { carriedGrants, grantedOrigins, requestedGrants } from './frontend-grants.ts';

const connect = (...resources: string[]): Grant => ({ id: 'network.connect', resources });

test('a policy gets the origins of the manifest that are held by name, each for what it is named for', () => {
  const csp = {
    connect: ['https://api.example', 'https://lost.example'],
    image: ['https://img.example', 'https://img.example'],
  };
  assert.deepEqual(
    grantedOrigins(csp, [connect('https://api.example', 'https://img.example', 'https://else.example')]),
    {
      connect: ['https://api.example'],
      image: ['https://img.example'],
      media: [],
    },
  );
  const nothing = { connect: [], image: [], media: [] };
  assert.deepEqual(grantedOrigins(csp, []), nothing);
  assert.deepEqual(grantedOrigins(undefined, [connect('https://api.example')]), nothing);
  for (const wildcard of ['*', 'https://*', 'https://api.*', 'https://api.example*'])
    assert.deepEqual(grantedOrigins(csp, [connect(wildcard)]), nothing, wildcard);
});

test('nothing but a plain origin reaches a policy, whatever an older package named', () => {
  const urls = [
    'https://a;script-src *',
    "https://a'unsafe-inline'",
    'https://*',
    'https:',
    '*',
    'data:',
    'https://a,b',
  ];
  const granted = grantedOrigins({ connect: urls, image: urls, media: urls }, [connect(...urls, '*')]);
  assert.deepEqual(granted, { connect: [], image: [], media: [] });
});

test('an older package requests the origins it names, beside what it requested already', () => {
  const reading: RequestedGrant = { id: 'apps.catalog.read', resources: ['*'] };
  const frontend = { entry: 'index.html', chrome: 'auto', csp: { connect: ['https://api.example/v1'] } } as const;
  assert.deepEqual(
    requestedGrants({ permissions: [reading], frontend: { ...frontend, csp: { connect: [...frontend.csp.connect] } } }),
    [reading, connect('https://api.example')],
  );
  const whole = { ...connect('https://api.example'), reason: 'weather' };
  const permissions = [whole, reading];
  assert.equal(
    requestedGrants({ permissions, frontend: { ...frontend, csp: { connect: ['https://api.example'] } } }),
    permissions,
  );
});

test('a change of version carries origins over by name only', () => {
  const evil = 'https://evil.example';
  assert.deepEqual(carriedGrants([connect('*')], [connect(evil)]), [], 'nobody read that name');
  assert.deepEqual(carriedGrants([connect('https://*')], [connect(evil, '*')]), [connect('https://*')]);
  assert.deepEqual(carriedGrants([connect('https://a.example')], [connect('*')]), [connect('https://a.example')]);
  assert.deepEqual(carriedGrants([connect('*', evil)], [connect(evil)]), [connect(evil)]);
  const news: Grant = { id: 'notifications.publish', resources: ['*'] };
  assert.deepEqual(carriedGrants([news], [{ ...news, resources: ['news'] }]), [{ ...news, resources: ['news'] }]);
});
