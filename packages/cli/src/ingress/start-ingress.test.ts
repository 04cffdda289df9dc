// The Ingress as an operator's configuration starts it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { readConfiguration } from '@platform/core/config';
import { createLog } from '@platform/core/log';
import { freePort } from '../../../../tests/support/free-port.ts';
import { portOf } from '../../../http/test-support/port-of.ts';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import { CORE_HOST, CoreStandIn, HOSTNAME, key, routeOf } from '../../../ingress/test-support/ingress-under-test.ts';
import { ingressConfig } from './config.ts';
import { startIngressProcess } from './start-ingress.ts';

const NODE = {
  nodeId: 'node-1',
  name: 'node-1',
  url: 'http://127.0.0.1:1',
  key: null,
  credential: `pni_${'0'.repeat(43)}`,
};

async function startCore(t: TestContext): Promise<CoreStandIn> {
  const core = new CoreStandIn();
  core.server.listen(0, '127.0.0.1');
  await once(core.server, 'listening');
  t.after(() => {
    core.server.closeAllConnections();
    core.server.close();
  });
  return core;
}

/** Where plain HTTP to a public name leads. */
async function redirected(t: TestContext, environment: Record<string, string>): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ingress-process-'));
  t.after(() => rm(folder, { recursive: true }));
  const plainPort = await freePort();
  const files = {
    PLATFORM_DATA_DIR: folder,
    PLATFORM_INGRESS_TLS: `files:${folder}`,
    PLATFORM_INGRESS_HTTP_LISTEN: `127.0.0.1:${plainPort}`,
  };
  const config = readConfiguration({ ...files, ...environment }, { isRoot: false, home: folder });
  const core = await startCore(t);
  const revision = core.say(
    { kind: 'nodes', items: [NODE], gone: [] },
    { kind: 'routes', items: [routeOf(['GET:/'])], gone: [] },
  );
  const ingress = await startIngressProcess(ingressConfig(config), {
    coreOrigin: `http://127.0.0.1:${portOf(core.server)}`,
    coreHost: CORE_HOST,
    key,
    listen: { host: '127.0.0.1', port: 0 },
    onRemoved: () => undefined,
    log: createLog('fatal'),
    metrics: undefined,
    folder,
  });
  try {
    await core.confirmed(revision);
    const connection = await openRaw(plainPort, `GET /a HTTP/1.1\r\nHost: ${HOSTNAME}\r\nConnection: close\r\n\r\n`);
    await connection.closed();
    return /^location: (.*)\r$/im.exec(connection.received())?.[1]?.replace(`:${ingress.port}/`, ':<its own port>/');
  } finally {
    await ingress.stop();
  }
}

test('plain HTTP leads to the port of https in PLATFORM_INGRESS_PUBLIC_PORT, by default to its own', async (t) => {
  assert.equal(await redirected(t, {}), `https://${HOSTNAME}:<its own port>/a`);
  assert.equal(await redirected(t, { PLATFORM_INGRESS_PUBLIC_PORT: '8443' }), `https://${HOSTNAME}:8443/a`);
  assert.equal(await redirected(t, { PLATFORM_INGRESS_PUBLIC_PORT: '443' }), `https://${HOSTNAME}/a`);
});
