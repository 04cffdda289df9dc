// The native module of iroh, loaded only where it is used: it has 20 MB and does not exist for every machine.
import type * as Iroh from '@number0/iroh/index.js';

export type { Connection, Endpoint, Incoming, RecvStream, SendStream } from '@number0/iroh/index.js';
export type Native = typeof Iroh;

/** @throws Error where the module does not run */
export async function loadIroh(): Promise<Native> {
  try {
    return await import('@number0/iroh/index.js');
  } catch (error) {
    throw new Error(
      `iroh does not run on this machine (${process.platform} ${process.arch}). Leave PLATFORM_LINK_CARRIER at tls.`,
      { cause: error },
    );
  }
}

/** Bytes cross into the native module as arrays of numbers. A loop is much faster than `Array.from`. */
export function numbersOf(bytes: Uint8Array): number[] {
  const { length } = bytes;
  const numbers = new Array<number>(length);
  for (let index = 0; index < length; index += 1) numbers[index] = bytes[index] as number;
  return numbers;
}

/** What the module throws carries a stack of native frames, which concerns nobody. */
export function plainError(error: unknown, code: string): Error {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  return Object.assign(new Error(`the iroh connection failed: ${first}`), { code });
}
