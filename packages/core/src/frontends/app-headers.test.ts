// What the headers of an app host allow, and that a manifest cannot talk its way into more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Manifest } from '@platform/contract';
import { appHeaders, emptyHostHeaders } from './app-headers.ts';

const config = { origin: 'http://shell.platform.localhost:8787' };
const plain = { entry: 'index.html', chrome: 'auto' } as const;

function policyOf(
  frontend: NonNullable<Manifest['frontend']>,
  nodeOrigin: string | null = null,
): Map<string, string[]> {
  const text = appHeaders(config, frontend, nodeOrigin)['content-security-policy'] ?? '';
  return new Map(
    text.split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values];
    }),
  );
}

test('a frontend loads from its own host and talks to the platform, and is framed by the shell alone', () => {
  const policy = policyOf(plain);
  assert.deepEqual(policy.get('default-src'), ["'self'"]);
  assert.deepEqual(policy.get('script-src'), ["'self'"]);
  assert.deepEqual(policy.get('connect-src'), ["'self'", config.origin]);
  assert.deepEqual(policy.get('frame-ancestors'), [config.origin]);
  assert.deepEqual(policy.get('object-src'), ["'none'"]);
  assert.deepEqual(policy.get('frame-src'), ["'none'"]);
  assert.deepEqual(policy.get('base-uri'), ["'self'"]);
  assert.deepEqual(policy.get('form-action'), ["'self'"]);
});

test('only an app with a backend may talk to its node', () => {
  const node = 'http://node.platform.localhost:8788';
  const connect = policyOf(plain, node).get('connect-src');
  assert.deepEqual(connect, ["'self'", config.origin, node, 'ws://node.platform.localhost:8788']);
});

test('further origins of the manifest are added to the directive they are for, as origins', () => {
  const policy = policyOf({
    ...plain,
    csp: {
      connect: ['https://api.example/v1?x=1'],
      image: ['https://img.example'],
      media: ['https://media.example:444'],
    },
  });
  assert.deepEqual(policy.get('connect-src'), ["'self'", config.origin, 'https://api.example']);
  assert.deepEqual(policy.get('img-src'), ["'self'", 'data:', 'blob:', 'https://img.example']);
  assert.deepEqual(policy.get('media-src'), ["'self'", 'data:', 'blob:', 'https://media.example:444']);
});

test('an address in a manifest cannot smuggle a directive or a wildcard into the policy', () => {
  const before = policyOf(plain);
  for (const url of [
    'https://a;script-src *',
    'https://a;script-src',
    "https://a'unsafe-inline'",
    'https://*',
    'https://*.example',
    'https://a,b',
    'https://a%20b',
    'javascript:alert(1)',
    'https:',
    'data:text/html,x',
  ])
    assert.deepEqual(policyOf({ ...plain, csp: { connect: [url], image: [url], media: [url] } }), before, url);
});

test('no app may ask for a passkey, a device or a place', () => {
  const features = appHeaders(config, plain, null)['permissions-policy'];
  for (const feature of ['publickey-credentials-get', 'publickey-credentials-create', 'camera', 'geolocation', 'usb'])
    assert.match(features ?? '', new RegExp(`(^|, )${feature}=\\(\\)(,|$)`));
});

test('a host without an app allows nothing', () => {
  assert.equal(
    emptyHostHeaders(config)['content-security-policy'],
    `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors ${config.origin}`,
  );
});
