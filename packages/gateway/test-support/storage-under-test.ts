// A Gateway whose object storage leads to a fake store, with a core that allows it or not.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EnvelopeKey, newEnvelopeKey, sealEnvelope } from '@platform/link';
import { type FakeStore, REGION, STORE_CREDENTIALS, startFakeStore } from './fake-store.ts';
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

export interface StorageUnderTest {
  readonly store: FakeStore;
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
  const envelopeKey = await newEnvelopeKey();
  let refusal: { readonly status: number; readonly code: string } | null = null;
  let asked = 0;
  const core = createServer(async (req, res) => {
    asked += 1;
    req.resume();
    const { status, code } = refusal ?? { status: 200, code: '' };
    const body = refusal === null ? await authorized(store.origin, envelopeKey) : { code, detail: `Refused: ${code}.` };
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(core, 'listening');
  const under = await startGatewayUnderTest(`http://127.0.0.1:${(core.address() as AddressInfo).port}`, {
    envelopeKey,
    policy: { revision: 1, objectStorage: true },
    storage: { listen: { host: '127.0.0.1', port: 0 } },
  });
  const address = under.gateway.storageAddress();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    store,
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
      await store.close();
    },
  };
}

async function authorized(endpoint: string, { publicKey }: EnvelopeKey): Promise<object> {
  const context = {
    purpose: 'object-storage',
    installationId: INSTALLATION,
    bound: [endpoint, REGION, BUCKET, PREFIX],
  };
  const plain = Buffer.from(JSON.stringify(STORE_CREDENTIALS));
  const envelope = await sealEnvelope(Buffer.from(publicKey, 'base64url'), context, plain);
  return { endpoint, region: REGION, bucket: BUCKET, pathStyle: true, prefix: PREFIX, envelope };
}
