// Unpacks an upload as a stream, within limits that hold while it runs, so that a bomb stops early however small its
// upload is.
import { limits, MiB, sizeText } from '@platform/contract';
import { unpackedMembers } from './gzip-members.ts';
import { packageFault } from './package-fault.ts';

/** Small files compress as they like; only beyond this much is the ratio a sign of a bomb. */
const RATIO_FREE = 64 * MiB;

/**
 * Hands the unpacked bytes of `source` to `consume`, chunk by chunk, with backpressure.
 *
 * @returns how many they are
 * @throws RefusalError when `source` is not a whole gzip file, or unpacks to more than `limits.packageUnpacked` or
 *   `limits.packageRatio` allow
 */
export async function inflatePackage(
  source: AsyncIterable<Buffer>,
  consume: (unpacked: AsyncIterable<Buffer>) => Promise<void>,
): Promise<number> {
  let packed = 0;
  let unpacked = 0;

  async function* measurePacked(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      packed += chunk.length;
      yield chunk;
    }
  }

  async function* measureUnpacked(): AsyncGenerator<Buffer> {
    for await (const chunk of unpackedMembers(measurePacked())) {
      unpacked += chunk.length;
      checkVolume(unpacked, packed);
      yield chunk;
    }
  }

  const bytes = measureUnpacked();
  try {
    await consume(bytes);
    // What the reader did not ask for, such as the end of the last member.
    for await (const _ of bytes);
  } finally {
    await bytes.return(undefined);
  }
  return unpacked;
}

function checkVolume(unpacked: number, packed: number): void {
  if (unpacked > limits.packageUnpacked.value)
    throw packageFault(`The package unpacks to more than ${sizeText(limits.packageUnpacked.value)}.`);
  if (unpacked > RATIO_FREE && unpacked > packed * limits.packageRatio.value)
    throw packageFault(`The package unpacks to more than ${limits.packageRatio.value} times its size.`);
}
