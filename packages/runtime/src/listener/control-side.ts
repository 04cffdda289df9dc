// Where core reaches the control side of this node: on the loopback interface, over TLS, or over iroh.
import type { IncomingRequest } from '@platform/http';
import { httpOrigin, irohAddressText } from '@platform/link';
import type { RuntimeOptions } from '../runtime-options.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import type { NodeIroh } from './node-iroh.ts';

export interface ControlListener extends Pick<HttpServer, 'close'> {
  /** As this node registers it. */
  readonly url: string;
}

const LOOPBACK = '127.0.0.1';
const SERVICE = 'control';

/** @throws Error when the address cannot be bound */
export async function openControl(
  { control, nodeKey, controllerKey, log }: Pick<RuntimeOptions, 'control' | 'nodeKey' | 'controllerKey' | 'log'>,
  iroh: NodeIroh | null,
  handle: (incoming: IncomingRequest) => Promise<void>,
): Promise<ControlListener> {
  const isKnown = (key: Buffer) => controllerKey?.equals(key) ?? true;
  if (iroh !== null && nodeKey !== undefined) {
    const { endpoint, direct, relay } = iroh;
    const url = irohAddressText({ key: nodeKey.publicKey, service: SERVICE, direct, relay });
    const ownHost = new URL(httpOrigin(url)).host;
    const isOwnHost = (name: string) => name === ownHost;
    const link = { key: nodeKey, isKnown, iroh: { endpoint, service: SERVICE } };
    const server = await startHttpServer({ host: '', port: 0, isOwnHost, handle, link, log });
    // Once there is something to serve: core reaches this node on the connection that it makes itself.
    iroh.keepToCore(SERVICE);
    return { ...server, url };
  }
  if (control === undefined || nodeKey === undefined) {
    const isOwnHost = (name: string) => name.startsWith(`${LOOPBACK}:`);
    const server = await startHttpServer({ host: LOOPBACK, port: 0, isOwnHost, handle, log });
    return { ...server, url: `http://${LOOPBACK}:${server.port}/control` };
  }
  const host = control.host.includes(':') ? `[${control.host}]` : control.host;
  const isOwnHost = (name: string) => name.startsWith(`${host}:`);
  const server = await startHttpServer({ ...{ ...control, isOwnHost, handle, log }, link: { key: nodeKey, isKnown } });
  return { ...server, url: `https://${host}:${server.port}/control` };
}
