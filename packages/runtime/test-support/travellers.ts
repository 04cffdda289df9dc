// Starts workloads/traveller.mjs through a process driver, each with a Gateway that does nothing, for tests of what they
// can reach.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { workloadManifest } from '@platform/contract';
import type { Driver, NetworkPolicy, WorkloadInstance } from '../src/drivers/driver.ts';
import type { Place } from './place.ts';
import { isRoot, TEST_UID } from './sandboxes.ts';

export interface Traveller {
  readonly instance: WorkloadInstance;
  /** As root: its user. */
  readonly uid: number;
  ask<Answer = string>(path: string): Promise<Answer>;
}

export interface Travellers {
  start(network: NetworkPolicy): Promise<Traveller>;
  end(traveller: Traveller): Promise<void>;
  endAll(): Promise<void>;
}

const quiet = { requests: 0, receivedBytes: 0, sentBytes: 0 };

export function makeTravellers(place: Place, driver: () => Driver): Travellers {
  const app = place.workload('traveller');
  const running = new Set<Traveller>();
  let started = 0;

  async function start(network: NetworkPolicy): Promise<Traveller> {
    started += 1;
    const uid = TEST_UID + started;
    const gateway = http.createServer();
    let inbound = '';
    const instance = await driver().start({
      installationId: `traveller-${started}`,
      manifest: workloadManifest.parse({ runtime: 'node', entry: 'index.mjs' }),
      app,
      ...(isRoot ? { uid } : {}),
      network,
      fingerprint: '',
      environment: ({ port }) => ({ PORT: String(port) }),
      gatewayUrls: { PLATFORM_API_URL: '' },
      storageUrls: {},
      async openGateway({ listen, inbound: way }) {
        if (!(listen instanceof net.Server)) throw new Error('no listener');
        gateway.listen(listen);
        await once(gateway, 'listening');
        inbound = way.socketPath;
        return {
          forwardInbound: () => undefined,
          forwardUpgrade: () => undefined,
          forwardPublic: () => undefined,
          forwardPublicUpgrade: () => undefined,
          apply: async () => undefined,
          activeRequests: () => 0,
          traffic: () => ({ outbound: quiet, inbound: quiet }),
          close: async () => void gateway.close(),
        };
      },
      gatewaySettings: () => Promise.reject(new Error('no Gateway elsewhere')),
      gatewayHooks: { onActivity: () => undefined, log: () => undefined },
      claimImage: async () => undefined,
      abort: new AbortController().signal,
    });
    instance.stdout.resume();
    instance.stderr.resume();
    assert.ok(await instance.listening(new AbortController().signal));
    const traveller: Traveller = {
      instance,
      uid,
      ask: (path) =>
        new Promise((resolve, reject) => {
          http
            .get({ socketPath: inbound, path, agent: false }, (response) => {
              let text = '';
              response.setEncoding('utf8');
              response.on('data', (chunk: string) => {
                text += chunk;
              });
              response.on('end', () => resolve(JSON.parse(text)));
            })
            .on('error', reject);
        }),
    };
    running.add(traveller);
    return traveller;
  }

  async function end(traveller: Traveller): Promise<void> {
    running.delete(traveller);
    const { instance } = traveller;
    await instance.stop(1_000);
    await instance.gateway.close();
    instance.release();
  }

  return { start, end, endAll: () => Promise.all([...running].map(end)).then(() => undefined) };
}
