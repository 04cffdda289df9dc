// Addresses of parts that are reached over iroh: the key, and where it may be found. Without any place it is reached
// over a connection that it made itself.
import { isIP } from 'node:net';
import { publicKeyText, readPublicKey } from '../../key.ts';

export interface IrohAddress {
  /** Of the other side, 32 bytes. */
  readonly key: Buffer;
  /** What it serves there: lower-case letters. Connections for one service never carry another. */
  readonly service: string;
  /** `address:port` over UDP. */
  readonly direct: readonly string[];
  readonly relay: string | null;
}

const MOST_ADDRESSES = 8;
const SERVICE = /^[a-z]{1,20}$/;

/** Whether an address has the form of one of iroh; {@link readIrohAddress} says whether it is one. */
export function isIrohAddress(text: string): boolean {
  return text.startsWith('iroh:');
}

/** `iroh://<key>/<service>?addr=<address:port>&relay=<url>` */
export function irohAddressText({
  key,
  service,
  direct = [],
  relay = null,
}: Partial<IrohAddress> & Pick<IrohAddress, 'key' | 'service'>): string {
  const query = new URLSearchParams(direct.map((address) => ['addr', address]));
  if (relay !== null) query.set('relay', relay);
  const text = `iroh://${publicKeyText(key)}/${service}`;
  return query.size === 0 ? text : `${text}?${query}`;
}

/** `null` for anything that {@link irohAddressText} does not write. */
export function readIrohAddress(text: string): IrohAddress | null {
  if (!isIrohAddress(text) || !URL.canParse(text)) return null;
  const { hostname, pathname, searchParams } = new URL(text);
  const key = readPublicKey(hostname);
  const service = pathname.slice(1);
  const direct = searchParams.getAll('addr');
  const relay = searchParams.get('relay');
  if (key === null || !SERVICE.test(service) || direct.length > MOST_ADDRESSES) return null;
  if (!direct.every(isAddressAndPort) || (relay !== null && !isRelayUrl(relay))) return null;
  const address = { key, service, direct, relay };
  return irohAddressText(address) === text ? address : null;
}

/** Whether this is the URL of a relay: `https:` or `http:`. */
export function isRelayUrl(text: string): boolean {
  return URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol);
}

function isAddressAndPort(text: string): boolean {
  const [, six, four, port] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(text) ?? [];
  return isIP(six ?? four ?? '') === (six === undefined ? 4 : 6) && Number(port) > 0 && Number(port) < 65_536;
}
