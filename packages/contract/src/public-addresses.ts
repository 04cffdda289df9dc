// Which IPv4 addresses are publicly routable: all but those that IANA sets aside, and those of clouds' own services.
// The one list behind every egress rule of every driver.

/**
 * Blocks that no workload may reach. IANA's special-purpose registry, multicast and reserved space; blocks that IANA
 * calls globally reachable but where only infrastructure lives are refused too. test-vectors/ip-special-purpose.json
 * is the table this is checked against.
 */
export const refusedBlocks = [
  '0.0.0.0/8', // "this network"
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and metadata of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // not in the registry: services of one cloud to its own machines, metadata among them
  '169.254.0.0/16', // link-local, and metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks; the addresses of workloads themselves lie here
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and limited broadcast
] as const;

export interface AddressRange {
  readonly first: string;
  /** Inclusive. */
  readonly last: string;
}

const TOP = 2 ** 32 - 1;

/** The address as a number, or undefined for anything but four decimal numbers as the kernel writes them. */
export function addressNumber(address: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address);
  if (match === null) return undefined;
  const parts = match.slice(1).map(Number);
  // A leading zero means octal to some and decimal to others.
  if (parts.some((part, index) => part > 255 || String(part) !== match[index + 1])) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

/** An IPv4 address as a number below 2^32, in dotted decimal. */
export function addressText(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

const refused = refusedBlocks.map(bounds);

/** Everything that is publicly routable, as ranges in ascending order that do not touch. */
export const publicRanges: readonly AddressRange[] = complement(refused);

/** Whether a workload with `network.public` may send to this IPv4 address. Anything that is not one is refused. */
export function isPubliclyRoutable(address: string): boolean {
  const number = addressNumber(address);
  return number !== undefined && !refused.some(({ first, last }) => number >= first && number <= last);
}

interface Bounds {
  readonly first: number;
  readonly last: number;
}

function bounds(block: string): Bounds {
  const [address = '', bits = ''] = block.split('/');
  const first = addressNumber(address);
  if (first === undefined) throw new Error(`${block} is not an IPv4 block`);
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
}

function complement(blocks: readonly Bounds[]): AddressRange[] {
  const ranges: AddressRange[] = [];
  let next = 0;
  for (const { first, last } of blocks.toSorted((one, other) => one.first - other.first)) {
    if (first > next) ranges.push({ first: addressText(next), last: addressText(first - 1) });
    next = Math.max(next, last + 1);
  }
  if (next <= TOP) ranges.push({ first: addressText(next), last: addressText(TOP) });
  return ranges;
}
