// Which ports a start takes, and what it says when two parts of it want the same one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfiguration } from '@platform/core/config';
import { requireDifferentPorts } from '../process/listeners.ts';
import { plannedListeners } from './listeners.ts';

function listenersOf(environment: Record<string, string>) {
  return plannedListeners(readConfiguration(environment, { isRoot: false, home: '/home/ada' }));
}

function shown(environment: Record<string, string>): string[] {
  return listenersOf(environment).map(({ variable, host, port }) => `${variable} ${host}:${port}`);
}

test('on a laptop the ports follow the origins, since browsers come to those', () => {
  assert.deepEqual(shown({}), [
    'PLATFORM_OS_ORIGIN 127.0.0.1:8787',
    'PLATFORM_NODE_ORIGIN 127.0.0.1:8788',
    'PLATFORM_INGRESS_LISTEN 127.0.0.1:8791',
  ]);
});

test('behind a proxy each listener has a variable of its own', () => {
  const deployed = {
    PLATFORM_OS_ORIGIN: 'https://cloud.example.org',
    PLATFORM_NODE_ORIGIN: 'https://backends.example.net',
    PLATFORM_APPS_DOMAIN: 'apps-of-example.net',
    PLATFORM_INGRESS_LISTEN: '',
    PLATFORM_LINK_LISTEN: '10.0.0.1:8789',
    PLATFORM_METRICS_LISTEN: '127.0.0.1:9090',
  };
  assert.deepEqual(shown(deployed), [
    'PLATFORM_LISTEN_PORT 127.0.0.1:8787',
    'PLATFORM_LINK_LISTEN 10.0.0.1:8789',
    'PLATFORM_NODE_LISTEN_PORT 127.0.0.1:8788',
    'PLATFORM_METRICS_LISTEN 127.0.0.1:9090',
  ]);
  const chosen = { PLATFORM_LISTEN_PORT: '3000', PLATFORM_NODE_LISTEN_PORT: '3001', PLATFORM_LISTEN_HOST: '0.0.0.0' };
  assert.deepEqual(shown({ ...deployed, ...chosen }).slice(0, 3), [
    'PLATFORM_LISTEN_PORT 0.0.0.0:3000',
    'PLATFORM_LINK_LISTEN 10.0.0.1:8789',
    'PLATFORM_NODE_LISTEN_PORT 0.0.0.0:3001',
  ]);
  assert.deepEqual(shown({ ...deployed, PLATFORM_LOCAL_NODE: 'false' }).length, 3);
});

test('two listeners on one port are refused by the names of their variables', () => {
  const refused = (environment: Record<string, string>, names: RegExp) =>
    assert.throws(() => requireDifferentPorts(listenersOf(environment)), names);
  requireDifferentPorts(listenersOf({}));
  refused(
    { PLATFORM_INGRESS_LISTEN: '127.0.0.1:8787' },
    /PLATFORM_OS_ORIGIN and PLATFORM_INGRESS_LISTEN both name port 8787/,
  );
  refused({ PLATFORM_INGRESS_LISTEN: '0.0.0.0:8788' }, /PLATFORM_NODE_ORIGIN and PLATFORM_INGRESS_LISTEN/);
  refused(
    { PLATFORM_LISTEN_PORT: '9090', PLATFORM_METRICS_LISTEN: '127.0.0.1:9090' },
    /PLATFORM_LISTEN_PORT and PLATFORM_METRICS_LISTEN/,
  );
  requireDifferentPorts(listenersOf({ PLATFORM_LINK_LISTEN: '10.0.0.1:8787' }));
});
