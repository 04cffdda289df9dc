// The networks of the cells: /29 blocks of 198.18.0.0/15, which is set aside for measuring devices, is routed nowhere,
// and leaves the private ranges, of which an engine gives away 31 networks in all, to the machine's owner.

export interface Block {
  /** `198.18.0.0/29` */
  readonly subnet: string;
  /** The bridge's own address, on the machine. */
  readonly bridge: string;
  readonly gateway: string;
  readonly workload: string;
}

export const pool = '198.18.0.0/15';
const FIRST = (198 << 24) | (18 << 16);
const BLOCKS = 2 ** 14;
const BLOCK_SIZE = 8;

/** The block with this number, taken round the pool. */
export function blockAt(number: number): Block {
  const base = (FIRST >>> 0) + (number % BLOCKS) * BLOCK_SIZE;
  const text = (offset: number) => [24, 16, 8, 0].map((shift) => ((base + offset) >>> shift) & 0xff).join('.');
  return { subnet: `${text(0)}/29`, bridge: text(1), gateway: text(2), workload: text(3) };
}

/** The block of a subnet that this platform created. */
export function blockOf(subnet: string): Block | undefined {
  const parts = /^198\.(18|19)\.(\d+)\.(\d+)\/29$/.exec(subnet)?.slice(1).map(Number);
  const [second, third, fourth] = parts ?? [];
  if (second === undefined || third === undefined || fourth === undefined) return undefined;
  return blockAt(((second - 18) * 65_536 + third * 256 + fourth) / BLOCK_SIZE);
}

/** Blocks in an order that another Runtime on the same engine does not share. */
export function blockNumbers(random: (bytes: number) => Buffer): { next(): number } {
  let number = random(4).readUInt32LE() % BLOCKS;
  return {
    next() {
      number = (number + 1) % BLOCKS;
      return number;
    },
  };
}
