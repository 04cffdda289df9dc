// Reads a volume from a node for the download of its account, entry by entry.
import { type VolumeEntry, VolumeReader, VolumeStreamError } from '@platform/contract/volume-stream';
import type { Pace } from '@platform/link';
import type { Silence } from './silence.ts';

/** An entry with its content, which must have been read before the next one is asked for. */
export type ReadEntry = Exclude<VolumeEntry, { type: 'end' | 'file' }> | ReadFile;

export type ReadFile = Extract<VolumeEntry, { type: 'file' }> & { content(): AsyncGenerator<Buffer> };

/** The entries of a volume in the order of its folders, as its node sends them. */
export type ReadVolume = AsyncGenerator<ReadEntry, void, undefined>;

/** What an entry costs, besides its bytes: it is parsed, checked and written by itself. */
const COST_OF_ENTRY = 8 * 1_024;
/** More entries than any volume has in use. */
const MOST_ENTRIES = 2_000_000;

/** @throws VolumeStreamError for what no volume can be, or breaks off */
export async function* readVolumeEntries(
  body: AsyncIterable<Uint8Array>,
  { silence, paces }: { readonly silence: Silence; readonly paces: readonly Pace[] },
): ReadVolume {
  const reader = new VolumeReader(heard(body, silence));
  try {
    for (let entries = 0; ; entries += 1) {
      for (const pace of paces) await pace(COST_OF_ENTRY);
      const entry = await reader.entry();
      if (entry.type === 'end') return;
      if (entries > MOST_ENTRIES) throw new VolumeStreamError('it has too many entries');
      if (entry.type !== 'file') {
        yield entry;
        continue;
      }
      let isRead = entry.bytes === 0;
      const content = async function* () {
        yield* reader.content(entry.bytes);
        isRead = true;
      };
      yield { ...entry, content };
      if (!isRead) throw new VolumeStreamError('a file was not read');
    }
  } finally {
    silence.end();
  }
}

/** However slow the consumer is, the node is not silent meanwhile. */
async function* heard(body: AsyncIterable<Uint8Array>, silence: Silence): AsyncGenerator<Uint8Array> {
  silence.listen();
  for await (const piece of body) {
    silence.rest();
    yield piece;
    silence.listen();
  }
}
