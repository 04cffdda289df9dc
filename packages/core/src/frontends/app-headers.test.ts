// What the headers of an app host allow; which origins are granted is proven in grants/frontend-grants.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FRAME_SANDBOX } from '@platform/contract';
import type { GrantedOrigins } from '../grants/frontend-grants.ts';
import { appHeaders, emptyHostHeaders, previewHeaders } from './app-headers.ts';

const config = { origin: 'http://shell.platform.localhost:8787', appsDomain: 'apps.platform.localhost' };
const services = 'http://services.apps.platform.localhost:8787';
const plain: GrantedOrigins = { connect: [], image: [], media: [] };

function policyOf(granted: GrantedOrigins, nodeOrigin: string | null = null): Map<string, string[]> {
  const text = appHeaders(config, granted, nodeOrigin)['content-security-policy'] ?? '';
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
  assert.deepEqual(policy.get('connect-src'), ["'self'", services]);
  assert.deepEqual(policy.get('frame-ancestors'), [config.origin]);
  assert.deepEqual(policy.get('object-src'), ["'none'"]);
  assert.deepEqual(policy.get('frame-src'), ["'none'"]);
  assert.deepEqual(policy.get('base-uri'), ["'self'"]);
  assert.deepEqual(policy.get('form-action'), ["'self'"]);
  assert.deepEqual(policy.get('webrtc'), ["'block'"]);
  assert.deepEqual(policy.get('sandbox'), FRAME_SANDBOX.split(' '));
});

test('connections of any kind go to its own host, the platform, its backend and granted origins, each listed once', () => {
  const allowlistOf = (granted: GrantedOrigins, nodeOrigin: string | null) =>
    appHeaders(config, granted, nodeOrigin)['connection-allowlist'];
  assert.equal(allowlistOf(plain, null), `(response-origin "${services}")`);
  const granted = {
    connect: ['https://api.example'],
    image: ['https://api.example', 'https://img.example:444'],
    media: ['https://media.example'],
  };
  assert.equal(
    allowlistOf(granted, 'https://node.example'),
    `(response-origin "${services}" "https://node.example" "https://api.example" "https://img.example:444" "https://media.example")`,
  );
});

test('only an app with a backend may talk to its node', () => {
  const node = 'http://node.platform.localhost:8788';
  const connect = policyOf(plain, node).get('connect-src');
  assert.deepEqual(connect, ["'self'", services, node, 'ws://node.platform.localhost:8788']);
});

test('granted origins are added to the directive they are for', () => {
  const policy = policyOf({
    connect: ['https://api.example'],
    image: ['https://img.example'],
    media: ['https://media.example:444'],
  });
  assert.deepEqual(policy.get('connect-src'), ["'self'", services, 'https://api.example']);
  assert.deepEqual(policy.get('img-src'), ["'self'", 'data:', 'blob:', 'https://img.example']);
  assert.deepEqual(policy.get('media-src'), ["'self'", 'data:', 'blob:', 'https://media.example:444']);
});

test('no app may ask for a passkey, a device or a place', () => {
  const features = appHeaders(config, plain, null)['permissions-policy'];
  for (const feature of ['publickey-credentials-get', 'publickey-credentials-create', 'camera', 'geolocation', 'usb'])
    assert.match(features ?? '', new RegExp(`(^|, )${feature}=\\(\\)(,|$)`));
});

test('a host without an app allows nothing', () => {
  assert.equal(
    emptyHostHeaders(config)['content-security-policy'],
    `default-src 'none'; base-uri 'none'; form-action 'none'; webrtc 'block'; sandbox ${FRAME_SANDBOX}; frame-ancestors ${config.origin}`,
  );
  assert.equal(emptyHostHeaders(config)['connection-allowlist'], '(response-origin)');
});

test('a preview reaches its own files alone', () => {
  const { 'content-security-policy': policy, 'connection-allowlist': allowed, ...rest } = previewHeaders(config);
  const own = appHeaders(config, plain, null);
  assert.equal(policy, own['content-security-policy']?.replace(` ${services}`, ''));
  assert.equal(allowed, '(response-origin)');
  assert.deepEqual(rest, Object.fromEntries(Object.entries(own).filter(([name]) => name in rest)));
  assert.doesNotMatch(JSON.stringify(previewHeaders(config)), /services\./);
});
