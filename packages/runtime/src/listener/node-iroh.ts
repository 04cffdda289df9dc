// The place of a node on iroh: where it cannot be reached, it connects to core and to Ingresses itself, and they reach it
// on those connections.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { IrohEndpoint, type KeptLink, type LinkKey, readIrohAddress } from '@platform/link';

export interface NodeIrohOptions {
  readonly key: LinkKey;
  /** Where core takes connections over UDP, and the key of all cores. */
  readonly core: { readonly host: string; readonly port: number; readonly key: Buffer };
  /** Address and port of this machine at which UDP packets of others arrive. Default: none do. */
  readonly listen?: { readonly host: string; readonly port: number } | undefined;
  /** URL. Default: none. */
  readonly relay: string | null;
}

const EVERY_ADDRESS = ['0.0.0.0', '::'];

export interface NodeIroh {
  readonly endpoint: IrohEndpoint;
  /** `address:port` at which others may reach it. */
  readonly direct: readonly string[];
  readonly relay: string | null;
  keepToCore(service: string): void;
  /** Connects to these Ingresses, by iroh addresses, and to no others any more. */
  keepToIngresses(addresses: readonly string[]): void;
  close(): Promise<void>;
}

/** @throws Error when iroh does not run here, or the address cannot be bound */
export async function openNodeIroh({ key, core, listen, relay }: NodeIrohOptions): Promise<NodeIroh> {
  const endpoint = await IrohEndpoint.open({ key, relay, ...(listen === undefined ? {} : { listen }) });
  const toIngresses = new Map<string, KeptLink>();
  return {
    endpoint,
    direct: listen === undefined || EVERY_ADDRESS.includes(listen.host) ? [] : [placeText(listen.host, endpoint.port)],
    relay,
    keepToCore(service) {
      endpoint.keep(async () => ({ key: core.key, service, direct: [await placeOf(core)], relay }));
    },
    keepToIngresses(addresses) {
      for (const [address, kept] of toIngresses) {
        if (addresses.includes(address)) continue;
        toIngresses.delete(address);
        kept.stop();
      }
      for (const text of addresses) {
        const address = readIrohAddress(text);
        if (address !== null && !toIngresses.has(text))
          toIngresses.set(
            text,
            endpoint.keep(() => address),
          );
      }
    },
    close: () => endpoint.close(),
  };
}

/** Names are looked up before each attempt: the address behind them may have changed. */
async function placeOf({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
  return placeText(isIP(host) === 0 ? (await lookup(host)).address : host, port);
}

function placeText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
