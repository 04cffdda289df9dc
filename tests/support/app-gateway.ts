// A real Gateway for an installed app, without a sandbox: what its workload would be given, the test gets.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Assignments, WorkloadStart } from '@platform/contract';
import { type RunningGateway, startGateway } from '@platform/gateway';
import { newEnvelopeKey } from '@platform/link';
import { PlatformServicesClient } from '@platform/sdk';
import type { Constellation } from './constellation.ts';
import type { InstalledTestApp } from './installed-app.ts';

export interface AppGateway {
  readonly gateway: RunningGateway;
  readonly environment: { readonly PLATFORM_API_URL: string; readonly PLATFORM_GATEWAY_TOKEN: string };
  /** The SDK as the workload would make it. */
  readonly client: PlatformServicesClient;
  close(): Promise<void>;
}

/**
 * Starts the workload anew: its former core service credential ends.
 *
 * @param coreOrigin where the Gateway reaches core. Default: the core of the world
 */
export async function openAppGateway(
  world: Constellation,
  app: InstalledTestApp,
  { coreOrigin = `http://127.0.0.1:${world.port}` }: { readonly coreOrigin?: string } = {},
): Promise<AppGateway> {
  const node = { authorization: `Bearer ${world.core.localNode.nodeCredential}` };
  const { items } = (await app.call('/v1/node/assignments', { headers: node })).json as Assignments;
  const assignment = items.find(({ installationId }) => installationId === app.installationId);
  assert.ok(assignment !== undefined);
  const envelopeKey = await newEnvelopeKey();
  const started = await app.call(`/v1/node/installations/${app.installationId}/starts`, {
    headers: node,
    body: { envelopeKey: envelopeKey.publicKey },
  });
  assert.ok(started.status < 300, started.text);
  const { coreServiceCredential } = started.json as WorkloadStart;
  const token = `pgw_${app.appId.padEnd(43, 't').slice(0, 43)}`;
  const gateway = await startGateway({
    installationId: app.installationId,
    appOrigin: app.origin,
    coreOrigin,
    coreHost: new URL(world.origin).host,
    gatewayCredential: token,
    coreServiceCredential,
    envelopeKey,
    policy: assignment.gateway,
    listen: { host: '127.0.0.1', port: 0 },
    inbound: { socketPath: path.join(tmpdir(), 'no-workload-listens-here') },
    onActivity: () => undefined,
    log: () => undefined,
  });
  const address = gateway.address();
  assert.ok(address !== null && typeof address === 'object');
  const environment = { PLATFORM_API_URL: `http://127.0.0.1:${address.port}`, PLATFORM_GATEWAY_TOKEN: token };
  return { gateway, environment, client: PlatformServicesClient.fromEnv(environment), close: () => gateway.close() };
}
