// An app's Gateway, core and PostgreSQL, each in a process that a test can kill: PostgreSQL with fsync, and between
// Gateway and core a proxy that knows the leases.
import assert from 'node:assert/strict';
import { gatewayPlace } from '../support/app-gateway.ts';
import type { Child } from '../support/child.ts';
import { registerAccount } from '../support/client.ts';
import { startConstellation } from '../support/constellation.ts';
import { type CoreProcess, type CoreProcessOptions, startCoreProcess } from '../support/core-process.ts';
import { freePort } from '../support/free-port.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { type HeldMoment, moments } from '../support/held-moments.ts';
import { installTestApp } from '../support/installed-app.ts';
import { type MortalPostgres, startMortalPostgres } from '../support/mortal-postgres.ts';
import { type AskedEffect, type EffectSink, startEffectSink } from './effect-sink.ts';
import { startRecordingProxy } from './recording-proxy.ts';
import { type Call, callOf, type Moment } from './workflow-moments.ts';

export interface StoredStep {
  /** Idempotency key of its run. */
  readonly key: string;
  readonly run_id: string;
  readonly status: string;
  readonly id: string;
  readonly step: string;
  readonly result: string | null;
}

export interface WorkflowWorld {
  readonly postgres: MortalPostgres;
  readonly sink: EffectSink;
  /** Variables of the app's process. */
  readonly environment: Readonly<Record<string, string>>;
  core: CoreProcess;
  gateway: Child;
  startCore(options?: CoreProcessOptions): Promise<CoreProcess>;
  /** A new start of the workload: the Gateway listens where the former one did, and core knows it by a new credential. */
  startGateway(): Promise<Child>;
  /** Holds the next call that comes to a moment. */
  hold(moment: Moment): HeldMoment;
  /** As the workload, with a credential that its former Gateways also take. */
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly code?: string }>;
  /** Of all runs. */
  steps(): Promise<StoredStep[]>;
  /** As if a minute had passed for everybody who does not renew. */
  aMinuteLater(): Promise<void>;
  /** How many writes with former leases were tried, and refused. */
  fenced(): number;
  close(): Promise<void>;
}

const SERVICES = '/v1/services';

export async function startWorkflowWorld(): Promise<WorkflowWorld> {
  const postgres = await startMortalPostgres();
  const world = await startConstellation({ database: postgres });
  const app = await installTestApp(world, await registerAccount(world, 'merchant'), 'shop', []);
  // From now on core runs in a process of its own.
  await world.core.stop();
  const held = moments<string>();
  const proxy = await startRecordingProxy(world.port, (when, { method, url }) => {
    const call = callOf(method ?? '', url ?? '');
    return call === null ? undefined : held.at(`${call} ${when}`);
  });
  const place = { ...gatewayPlace(world, app), coreOrigin: proxy.origin, listenPort: await freePort() };
  const api = `http://127.0.0.1:${place.listenPort}`;
  const token = `pgw_${place.appId.padEnd(43, 't').slice(0, 43)}`;
  let fenced = 0;

  async function call(method: string, path: string, body?: unknown) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(api + SERVICES + path, init);
    const text = await answer.text();
    return { ...(text === '' ? {} : (JSON.parse(text) as { code?: string })), status: answer.status };
  }

  /** The holder of a step that was claimed again wakes up: nothing that it writes is accepted. */
  async function tryFormerLeases({ idempotencyKey }: AskedEffect): Promise<void> {
    const { runId, tokens } = proxy.leases.get(idempotencyKey) ?? { runId: '', tokens: [] };
    const activity = `/workflows/${runId}/activities/${idempotencyKey}`;
    for (const leaseToken of tokens.slice(0, -1)) {
      for (const [verb, body] of [
        ['renew', { leaseToken }],
        ['complete', { leaseToken, result: 'stolen' }],
        ['complete', { leaseToken, error: { message: 'stolen' } }],
      ] as const) {
        const { status, code } = await call('POST', `${activity}/${verb}`, body);
        // Whoever kills it now gives no answer that counts.
        if (status < 500) assert.deepEqual({ status, code }, { status: 409, code: 'lease_lost' });
        fenced += 1;
      }
    }
  }

  const sink = await startEffectSink({ before: tryFormerLeases, at: held.at });
  const startCore = (options: CoreProcessOptions = {}) =>
    startCoreProcess(world, { port: world.port, quiet: true, ...options });
  const core = await startCore();
  const startGateway = () => startGatewayProcess(place);
  const running = { core, gateway: await startGateway() };
  return Object.assign(running, {
    postgres,
    sink,
    environment: { PLATFORM_API_URL: api, PLATFORM_GATEWAY_TOKEN: token, SINK_URL: sink.origin },
    startCore,
    startGateway,
    hold(moment: Moment) {
      const [name, when] = moment.split(' ') as [Call, string];
      return when === 'committing' || when === 'committed'
        ? running.core.hold(`workflows.${name}.${when}`)
        : held.hold(moment);
    },
    call,
    steps: () =>
      postgres.query<StoredStep>(`
        SELECT r.idempotency_key AS key, r.id AS run_id, r.status, a.id, a.step, a.result
          FROM workflow_activities a JOIN workflow_runs r ON r.id = a.run_id`),
    async aMinuteLater() {
      await postgres.query(`UPDATE workflow_activities SET lease_expires_at = now() - interval '1 second'
                             WHERE lease_expires_at > now()`);
    },
    fenced: () => fenced,
    async close() {
      await running.gateway.kill();
      await proxy.close();
      await sink.close();
      await running.core.kill();
      await world.close();
    },
  });
}
