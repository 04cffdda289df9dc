// The internet address of an installed app, on a platform with its own Ingress.
import { strict as assert } from 'node:assert';
import type { PublicAddress } from '@platform/contract';
import type { TestAccount } from './client.ts';
import { freePort } from './free-port.ts';
import { rawRequest } from './raw-http.ts';
import { until } from './wait.ts';

/** Variables of a platform whose Ingress listens on a free port. All clients of a test have one address, so it may ask often. */
export async function ingressVariables(): Promise<Record<string, string>> {
  const listen = `127.0.0.1:${await freePort()}`;
  return { PLATFORM_INGRESS_LISTEN: listen, PLATFORM_INGRESS_RATE: '1000', PLATFORM_INGRESS_BURST: '1000' };
}

/** `http://<hostname>:<port>`, as its owner copies it, once the Ingress knows it. */
export async function publicUrlOf(account: TestAccount, appId: string): Promise<URL> {
  const { url } = await account.browser.take<PublicAddress>(`/v1/apps/${appId}/public`);
  assert.ok(url, `${appId} has no public address`);
  const address = new URL(url);
  const port = Number(address.port);
  // Of a name that it does not know it says 421; no app declares this method.
  const known = { port, path: '/', method: 'PROPFIND', headers: { host: address.host } };
  await until(`the Ingress to know ${address.host}`, async () => {
    const answer = await rawRequest(known).catch(() => null);
    return answer?.status === 404;
  });
  return address;
}
