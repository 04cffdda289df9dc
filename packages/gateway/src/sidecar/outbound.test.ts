// Outbound calls of a Gateway without a network of its own: it dials through the Runtime, which decides what may be
// dialed, and speaks TLS itself.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outboundContext } from '@platform/contract';
import { createDialer, serveDials } from '@platform/http';
import { newEnvelopeKey, sealEnvelope } from '@platform/link';
import { startTlsUpstream } from '../../../../tests/support/tls-upstream.ts';
import { APP_ORIGIN, CORE_CREDENTIAL, CORE_HOST, GATEWAY_CREDENTIAL } from '../../test-support/gateway-under-test.ts';
import { connectSidecar } from './connect.ts';

const SECRET = 'canary-sidecar-secret';
const INSTALLATION = 'inst-1';
const INJECT = { in: 'header', name: 'Authorization', scheme: 'Bearer' } as const;

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A sidecar whose Runtime lets it dial `allowed`, in front of a core that allows every call to the upstream. */
async function startWorld(t: TestContext, allowed: (origin: string) => readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'sidecar-outbound-'));
  const upstream = await startTlsUpstream();
  const envelopeKey = await newEnvelopeKey();
  const call = { origin: upstream.origin, pathPrefix: '/base', inject: INJECT };
  const core = createServer(async (req, res) => {
    const { slot, method } = JSON.parse((await buffer(req)).toString()) as { slot: string; method: string };
    const context = outboundContext(INSTALLATION, { slot, method, ...call });
    const key = Buffer.from(envelopeKey.publicKey, 'base64url');
    const envelope = await sealEnvelope(key, context, Buffer.from(SECRET));
    res.end(JSON.stringify({ ...call, envelope }));
  });
  core.listen(join(folder, 'core.sock'));
  const privateOrigins = [...allowed(upstream.origin)];
  const dials = await serveDials({ path: join(folder, 'dial.sock'), dialer: createDialer(), privateOrigins });
  const program = join(folder, 'gateway.mjs');
  const made = spawnSync(process.execPath, [fileURLToPath(new URL('bundle.ts', import.meta.url)), program]);
  assert.equal(made.status, 0, String(made.stderr));
  const child = spawn(process.execPath, [program, folder, join(folder, 'core.sock'), join(folder, 'dial.sock')], {
    env: {},
    stdio: 'inherit',
  });
  const port = await freePort();
  const gateway = await connectSidecar({
    folder,
    settings: {
      installationId: INSTALLATION,
      appOrigin: APP_ORIGIN,
      coreOrigin: 'http://127.0.0.1:1',
      coreHost: CORE_HOST,
      gatewayCredential: GATEWAY_CREDENTIAL,
      coreServiceCredential: CORE_CREDENTIAL,
      envelopeKey,
      policy: { revision: 0 },
      // More than a line of the protocol held before there were authorities in it.
      outbound: { privateOrigins: [upstream.origin], ca: `${'#'.repeat(200_000)}\n${upstream.ca}` },
      listen: { host: '127.0.0.1', port },
      workload: { hostname: '127.0.0.1', port: '1' },
    },
    onActivity: () => undefined,
    log: () => undefined,
  });
  t.after(async () => {
    await gateway.close();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await dials.close();
    core.close();
    core.closeAllConnections();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/services/outbound/base/x`, {
    headers: { authorization: `Bearer ${GATEWAY_CREDENTIAL}` },
  });
  return { status: answer.status, arrived: upstream.arrived };
}

test('a sidecar reaches the slot through the Runtime, over TLS of its own, with the secret', async (t) => {
  const { status, arrived } = await startWorld(t, (origin) => [origin]);
  assert.equal(status, 200);
  assert.equal(arrived[0]?.target, '/base/x');
  assert.ok(arrived[0]?.rawHeaders.includes(`Bearer ${SECRET}`));
});

test('what the Runtime does not allow is not dialed, whatever the sidecar was told', async (t) => {
  const { status, arrived } = await startWorld(t, () => []);
  assert.equal(status, 502);
  assert.deepEqual(arrived, []);
});
