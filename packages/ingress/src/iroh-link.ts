// Where nodes behind NAT connect to this Ingress, which then reaches their public sides on those connections.
import { IrohEndpoint, irohAddressText, type LinkKey } from '@platform/link';

export interface IrohPlace {
  /** Address and port over UDP. `null`: nodes find it through the relay alone. */
  readonly listen: { readonly host: string; readonly port: number } | null;
  /** URL. */
  readonly relay: string | null;
}

export interface IrohLink {
  readonly endpoint: IrohEndpoint;
  /** What nodes get through core; `undefined` where there is no way to this Ingress. */
  readonly address: string | undefined;
  /** Ends the connections of nodes that are not in the topology any more. */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

/** As nodes register it. */
const SERVICE = 'public';

/** @throws Error when iroh does not run here, or the address cannot be bound */
export async function openIrohLink(
  key: LinkKey,
  { listen, relay }: IrohPlace,
  isKnown: (key: Buffer) => boolean,
): Promise<IrohLink> {
  const endpoint = await IrohEndpoint.open({ key, relay, ...(listen === null ? {} : { listen }) });
  const { recheck } = endpoint.offer({ name: SERVICE, isKnown });
  const direct = listen === null ? [] : [placeText(listen.host, endpoint.port)];
  const isFound = direct.length > 0 || relay !== null;
  return {
    endpoint,
    address: isFound ? irohAddressText({ key: key.publicKey, service: SERVICE, direct, relay }) : undefined,
    recheck,
    close: () => endpoint.close(),
  };
}

function placeText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
