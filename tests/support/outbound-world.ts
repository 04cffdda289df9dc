// Everything between a workload and an outside service but the workload: a real core, a real Gateway, and an upstream on
// loopback over real TLS.
import type { Grant, RouteBodyInput, SecretBinding } from '@platform/contract';
import type { GatewayEvent, RunningGateway } from '@platform/gateway';
import { createDialer, type Dialer, type DialerOptions } from '@platform/http';
import { newEnvelopeKey } from '@platform/link';
import { registerAccount, type TestAccount } from './client.ts';
import { type Constellation, startConstellation } from './constellation.ts';
import { startGateway } from './gateway.ts';
import { type InstalledTestApp, installTestApp } from './installed-app.ts';
import { startTlsUpstream, type TlsUpstream } from './tls-upstream.ts';

export const SECRET = 'canary-outbound-6f1d/3c+9a=';
export const GATEWAY_CREDENTIAL = 'pgw_canary-outbound-workload-credential-0123456';
/** A name that the certificate of the upstream is for, and that no name server of this machine is asked for. */
export const PUBLIC_NAME = 'push.example.net';

export type Inject = RouteBodyInput<'apps.secretBindings.bind'>['inject'];

export interface OutboundWorld {
  readonly platform: Constellation;
  readonly account: TestAccount;
  readonly app: InstalledTestApp;
  readonly upstream: TlsUpstream;
  readonly gateway: RunningGateway;
  readonly port: number;
  readonly events: readonly GatewayEvent[];
  /** Binds a slot to the secret. */
  bind(slot: string, inject?: Inject): Promise<void>;
  /** Another Gateway for the same start of the workload. */
  open(dialer: Dialer, trusting?: boolean): Promise<{ readonly port: number; close(): Promise<void> }>;
  close(): Promise<void>;
}

const ALL = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const BOUND = ['base', 'root', 'slash', 'readonly', 'ungranted', 'elsewhere', 'public'];

/** @param dials how its Gateway dials. Default: as always, and the upstream is a private origin of the operator's */
export async function startOutboundWorld(dials?: DialerOptions): Promise<OutboundWorld> {
  const upstream = await startTlsUpstream();
  const platform = await startConstellation();
  const account = await registerAccount(platform, 'tenant');
  const publicOrigin = `https://${PUBLIC_NAME}:${upstream.port}`;
  const slot = (name: string, more: object = {}) => ({
    ...{ name, origin: upstream.origin, pathPrefix: '/base', methods: ALL },
    ...more,
  });
  const permissions: Grant[] = [
    { id: 'secrets.use', resources: ['base', 'root', 'slash', 'readonly', 'unbound', 'elsewhere', 'public'] },
    { id: 'network.connect', resources: [upstream.origin, publicOrigin] },
  ];
  const app = await installTestApp(platform, account, 'caller', permissions, {
    secretSlots: [
      slot('base'),
      slot('root', { pathPrefix: '/' }),
      slot('slash', { pathPrefix: '/base/' }),
      slot('readonly', { methods: ['GET'] }),
      slot('unbound'),
      slot('ungranted'),
      slot('elsewhere', { origin: 'https://api.elsewhere.example' }),
      slot('public', { origin: publicOrigin, methods: [...ALL, 'HEAD'] }),
    ],
  });
  const envelopeKey = await newEnvelopeKey();
  await app.restart(envelopeKey.publicKey);
  const events: GatewayEvent[] = [];
  const more: RunningGateway[] = [];

  async function open(dialer: Dialer | undefined, trusting = true): Promise<{ gateway: RunningGateway; port: number }> {
    const gateway = await startGateway({
      installationId: app.installationId,
      appOrigin: app.origin,
      coreOrigin: `http://127.0.0.1:${platform.port}`,
      coreHost: new URL(platform.origin).host,
      gatewayCredential: GATEWAY_CREDENTIAL,
      coreServiceCredential: app.credential,
      envelopeKey,
      policy: { revision: 0 },
      outbound: { privateOrigins: [upstream.origin], ca: trusting ? upstream.ca : null },
      listen: { port: 0, host: '127.0.0.1' },
      inbound: { socketPath: '/nonexistent' },
      onActivity: () => undefined,
      log: (event) => events.push(event),
      ...(dialer === undefined ? {} : { dialer }),
    });
    const address = gateway.address();
    return { gateway, port: address !== null && typeof address === 'object' ? address.port : 0 };
  }

  async function bind(name: string, inject?: Inject): Promise<void> {
    const list = '/v1/apps/caller/secret-bindings';
    const { items } = await account.browser.take<{ items: SecretBinding[] }>(list);
    const declarationHash = items.find((item) => item.slot === name)?.declarationHash;
    const body = { secret: 'token', declarationHash, ...(inject === undefined ? {} : { inject }) };
    await account.browser.take(`${list}/${name}`, { method: 'PUT', body });
  }

  const { gateway, port } = await open(dials === undefined ? undefined : createDialer(dials));
  await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: SECRET } });
  for (const name of BOUND) await bind(name);
  return {
    ...{ platform, account, app, upstream, gateway, port, events, bind },
    async open(dialer, trusting) {
      const opened = await open(dialer, trusting);
      more.push(opened.gateway);
      return { port: opened.port, close: () => opened.gateway.close() };
    },
    async close() {
      await Promise.all([gateway, ...more].map((one) => one.close()));
      await platform.close();
      await upstream.close();
    },
  };
}
