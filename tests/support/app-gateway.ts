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
import { rawRequest } from './raw-http.ts';

export interface AppGateway {
  readonly gateway: RunningGateway;
  readonly environment: { readonly PLATFORM_API_URL: string; readonly PLATFORM_GATEWAY_TOKEN: string };
  /** The SDK as the workload would make it. */
  readonly client: PlatformServicesClient;
  close(): Promise<void>;
}

/** What a node knows before it starts a workload; can be sent to another process. */
export interface GatewayPlace {
  readonly appId: string;
  readonly installationId: string;
  readonly appOrigin: string;
  readonly nodeCredential: string;
  /** Origin and port of core. */
  readonly origin: string;
  readonly port: number;
  /** Where the Gateway reaches core. Default: at its port. */
  readonly coreOrigin?: string;
  /** Default: a free one. */
  readonly listenPort?: number;
}

export function gatewayPlace(
  world: Pick<Constellation, 'core' | 'origin' | 'port'>,
  { appId, installationId, origin }: InstalledTestApp,
): GatewayPlace {
  const { nodeCredential } = world.core.localNode;
  return { appId, installationId, appOrigin: origin, nodeCredential, origin: world.origin, port: world.port };
}

/**
 * Starts the workload anew: its former core service credential ends.
 *
 * @param more where the Gateway reaches core, for example
 */
export function openAppGateway(
  world: Constellation,
  app: InstalledTestApp,
  more: Partial<GatewayPlace> = {},
): Promise<AppGateway> {
  return openGateway({ ...gatewayPlace(world, app), ...more });
}

export async function openGateway(place: GatewayPlace): Promise<AppGateway> {
  const { appId, installationId, appOrigin, port, coreOrigin = `http://127.0.0.1:${port}`, listenPort = 0 } = place;
  const { items } = await askCore<Assignments>(place, { path: '/v1/node/assignments' });
  const assignment = items.find((item) => item.installationId === installationId);
  assert.ok(assignment !== undefined);
  const envelopeKey = await newEnvelopeKey();
  const { coreServiceCredential } = await askCore<WorkloadStart>(place, {
    path: `/v1/node/installations/${installationId}/starts`,
    body: { envelopeKey: envelopeKey.publicKey },
  });
  const token = `pgw_${appId.padEnd(43, 't').slice(0, 43)}`;
  const gateway = await startGateway({
    installationId,
    appOrigin,
    coreOrigin,
    coreHost: new URL(place.origin).host,
    gatewayCredential: token,
    coreServiceCredential,
    envelopeKey,
    policy: assignment.gateway,
    listen: { host: '127.0.0.1', port: listenPort },
    inbound: { socketPath: path.join(tmpdir(), 'no-workload-listens-here') },
    onActivity: () => undefined,
    log: () => undefined,
  });
  const address = gateway.address();
  assert.ok(address !== null && typeof address === 'object');
  const environment = { PLATFORM_API_URL: `http://127.0.0.1:${address.port}`, PLATFORM_GATEWAY_TOKEN: token };
  return { gateway, environment, client: PlatformServicesClient.fromEnv(environment), close: () => gateway.close() };
}

/** As the node. */
async function askCore<Answer>(
  { port, origin, nodeCredential }: GatewayPlace,
  { path: target, body }: { readonly path: string; readonly body?: unknown },
): Promise<Answer> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await rawRequest({
    port,
    path: target,
    headers: { host: new URL(origin).host, authorization: `Bearer ${nodeCredential}`, ...json },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  assert.ok(answer.status < 300, answer.text);
  return answer.json as Answer;
}
