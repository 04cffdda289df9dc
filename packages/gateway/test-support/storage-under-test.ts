// A Gateway whose object storage leads to a store, a fake one or another, with a core that allows it or not.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EnvelopeKey, newEnvelopeKey, sealEnvelope } from '@platform/link';
import type { GatewayOptions } from '../src/gateway.ts';
import { type FakeStore, REGION, type SeenRequest, STORE_CREDENTIALS, startFakeStore } from './fake-store.ts';
import {
  type Answer,
  type Ask,
  ask,
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  startGatewayUnderTest,
} from './gateway-under-test.ts';

export const BUCKET = 'operators-bucket';
/** As `startGatewayUnderTest` names the installation. */
export const INSTALLATION = 'inst-0190a1b2-0000-7000-8000-000000000001';
export const PREFIX = `installations/${INSTALLATION}/`;
/** Of the neighbour, below which nothing may ever be asked. */
export const OTHER_PREFIX = 'installations/inst-0190a1b2-0000-7000-8000-000000000002/';

/** Tests of the rate set their own. */
const UNREACHED = { perMinute: 10_000_000, burst: 10_000_000 };

/** Nothing that arrived at the store concerns anything but the installation's own part. */
export function assertConfined(seen: readonly SeenRequest[]): void {
  const own = `/${BUCKET}/${PREFIX}`;
  for (const { path, query, headers, body } of seen) {
    const isOfBucket = path === `/${BUCKET}`;
    assert.ok(isOfBucket || path.startsWith(own), path);
    assert.ok(!path.split('/').some((segment) => segment === '.' || segment === '..'), path);
    if (isOfBucket && query.has('delete'))
      for (const [, key = ''] of body.toString().matchAll(/<Key>([^<]*)/g)) assert.ok(key.startsWith(PREFIX), key);
    else if (isOfBucket) assert.ok(query.get('prefix')?.startsWith(PREFIX), String(query.get('prefix')));
    for (const position of ['marker', 'start-after', 'key-marker']) {
      const at = query.get(position) ?? '';
      if (isOfBucket) assert.ok(at === '' || at.startsWith(PREFIX), at);
    }
    const source = headers['x-amz-copy-source'];
    if (source !== undefined) assert.ok(decodeURIComponent(String(source)).startsWith(own), String(source));
  }
}

/** A store by its address and what signs requests to it. */
export interface StoreBehind {
  readonly origin: string;
  readonly region: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

export interface StorageUnderTest extends GatewayToStore {
  readonly store: FakeStore;
}

export interface GatewayToStore {
  readonly under: GatewayUnderTest;
  readonly port: number;
  /** Core refuses with this from now on. */
  refuseWith(status: number, code: string): void;
  /** How often core was asked. */
  asked(): number;
  /** Sends with the session token, unless `headers` say otherwise. */
  send(request: Ask): Promise<Answer>;
  close(): Promise<void>;
}

export async function startStorageUnderTest(): Promise<StorageUnderTest> {
  const store = await startFakeStore(BUCKET);
  const { origin } = store;
  const gateway = await startGatewayToStore({ origin, region: REGION, credentials: STORE_CREDENTIALS });
  return {
    ...gateway,
    store,
    async close() {
      await gateway.close();
      await store.close();
    },
  };
}

export async function startGatewayToStore(
  store: StoreBehind,
  more: Pick<GatewayOptions, 'memory'> = {},
): Promise<GatewayToStore> {
  const envelopeKey = await newEnvelopeKey();
  let refusal: { readonly status: number; readonly code: string } | null = null;
  let asked = 0;
  const core = createServer(async (req, res) => {
    asked += 1;
    req.resume();
    const { status, code } = refusal ?? { status: 200, code: '' };
    const body = refusal === null ? await authorized(store, envelopeKey) : { code, detail: `Refused: ${code}.` };
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(core, 'listening');
  const under = await startGatewayUnderTest(`http://127.0.0.1:${(core.address() as AddressInfo).port}`, {
    envelopeKey,
    policy: { revision: 1, objectStorage: true, objectStorageRate: UNREACHED },
    storage: { listen: { host: '127.0.0.1', port: 0 } },
    ...more,
  });
  const address = under.gateway.storageAddress();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    under,
    port,
    refuseWith(status, code) {
      refusal = { status, code };
    },
    asked: () => asked,
    send: ({ headers = {}, ...request }) =>
      ask(port, { ...request, headers: { 'x-amz-security-token': GATEWAY_CREDENTIAL, ...headers } }),
    async close() {
      await under.close();
      core.closeAllConnections();
      core.close();
    },
  };
}

async function authorized(
  { origin: endpoint, region, credentials }: StoreBehind,
  { publicKey }: EnvelopeKey,
): Promise<object> {
  const context = {
    purpose: 'object-storage',
    installationId: INSTALLATION,
    bound: [endpoint, region, BUCKET, PREFIX],
  };
  const plain = Buffer.from(JSON.stringify(credentials));
  const envelope = await sealEnvelope(Buffer.from(publicKey, 'base64url'), context, plain);
  return { endpoint, region, bucket: BUCKET, pathStyle: true, prefix: PREFIX, envelope };
}
