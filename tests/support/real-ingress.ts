// The Ingress of core's machine in this process, and what clients of the internet send it.
import assert from 'node:assert/strict';
import { type Grant, type PublicAddress, publicAddress } from '@platform/contract';
import { type Ingress, type IngressOptions, defaultLimits as ingressLimits, startIngress } from '@platform/ingress';
import { handshake } from '../../packages/http/test-support/handshakes.ts';
import { openRaw, type RawConnection } from '../../packages/http/test-support/raw-exchange.ts';
import type { TestAccount } from './client.ts';
import type { Constellation } from './constellation.ts';
import { publishTestApp } from './publish.ts';

export interface RealIngress extends Ingress {
  /** A request, as these lines, on a connection of its own. */
  send(hostname: string, line: string, options?: SendOptions): Promise<RawConnection>;
  /** The status and the body of a whole answer. */
  get(hostname: string, path: string, options?: SendOptions & { readonly method?: string }): Promise<PublicAnswer>;
  openWebSocket(hostname: string, path: string): Promise<RawConnection>;
}

export interface SendOptions {
  readonly fields?: readonly string[];
  readonly body?: string;
}

export interface PublicAnswer {
  readonly status: number | undefined;
  readonly head: string;
  readonly body: string;
}

const quiet = () => undefined;

/** Resolves when it knows core's topology. Rates are those of no client, unless the limits say otherwise. */
export async function startRealIngress(
  { port, origin, ingressKey }: Pick<Constellation, 'port' | 'origin' | 'ingressKey'>,
  limits: Partial<IngressOptions['limits']> = {},
  more: Pick<IngressOptions, 'iroh'> = {},
): Promise<RealIngress> {
  const ingress = await startIngress({
    coreOrigin: `http://127.0.0.1:${port}`,
    coreHost: new URL(origin).host,
    key: ingressKey,
    listen: { host: '127.0.0.1', port: 0 },
    limits: { ...ingressLimits, rate: 10_000, burst: 10_000, ...limits },
    // Refusals of clients behind proxies are not held back; no client here comes through this one.
    trustedProxies: ['192.0.2.1'],
    accessLog: 'off',
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    clock: () => new Date(),
    ...more,
  });
  await ingress.informed;
  const send: RealIngress['send'] = (hostname, line, { fields = [], body = '' } = {}) =>
    openRaw(ingress.port, [`${line} HTTP/1.1`, `Host: ${hostname}`, ...fields, '', body].join('\r\n'));
  return {
    ...ingress,
    send,
    async get(hostname, path, { method = 'GET', fields = [], body } = {}) {
      const framing = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
      const all = { fields: ['Connection: close', ...framing, ...fields], ...(body === undefined ? {} : { body }) };
      const connection = await send(hostname, `${method} ${path}`, all);
      await connection.closed();
      const [answer] = connection.answers();
      return { status: answer?.status, head: answer?.head ?? '', body: answer?.body ?? connection.received() };
    },
    async openWebSocket(hostname, path) {
      const connection = await send(hostname, `GET ${path}`, { fields: handshake() });
      await connection.until(() => connection.received().includes('\r\n\r\n'));
      assert.match(connection.received(), /^HTTP\/1\.1 101 /);
      return connection;
    },
  };
}

/** An app with this workload and these routes, installed for its publisher. Default: all that is declared is granted. */
export async function installPublicApp(
  owner: TestAccount,
  appId: string,
  {
    workload,
    routes,
    granted = routes,
  }: { readonly workload: string; readonly routes: readonly string[]; readonly granted?: readonly string[] },
): Promise<PublicAddress & { readonly hostname: string }> {
  const grants = (resources: readonly string[]): Grant[] => [{ id: 'endpoints.public', resources: [...resources] }];
  const permissions = grants(routes);
  const manifest = { workload: { runtime: 'node', entry: 'main.mjs' }, publicEndpoints: routes, permissions };
  const files = { 'workload/main.mjs': workload, 'frontend/index.html': '<!doctype html><title>t</title>' };
  await publishTestApp(owner, appId, manifest, files);
  await owner.browser.take('/v1/apps', { body: { appId, permissions: grants(granted) } });
  return publicAddressOf(owner, appId);
}

export async function publicAddressOf(
  owner: TestAccount,
  appId: string,
): Promise<PublicAddress & { readonly hostname: string }> {
  const address = publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public`));
  return { ...address, hostname: address.hostname ?? assert.fail('it has no public name') };
}
