// The volumes of an account, each read from its node while the archive is written. Those of removed apps are among them.
import { RefusalError } from '@platform/contract';
import type { AccountEntry } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { everyVolume, type OwnVolume } from '../installations/face.ts';
import { LeftOut, volumeEntries } from './volume-entries.ts';

/** @param signal ends what is being read; the backends that rest for it go on then */
export async function* volumesOf(
  context: CoreContext,
  accountKey: string,
  signal: AbortSignal,
): AsyncGenerator<AccountEntry> {
  for await (const volume of everyVolume(context.database, accountKey)) yield* oneVolume(context, volume, signal);
}

async function* oneVolume(
  context: CoreContext,
  { appId, id }: OwnVolume,
  signal: AbortSignal,
): AsyncGenerator<AccountEntry> {
  const folder = `apps/${appId}/volume`;
  const over = new AbortController();
  try {
    const volume = await context.nodes.readVolume(id, AbortSignal.any([signal, over.signal]));
    if (volume !== null) yield* volumeEntries(volume, folder);
  } catch (error) {
    // Only before its first entry: what breaks off later is no refusal, and the archive ends incomplete.
    if (!(error instanceof RefusalError)) throw error;
    const missing = new LeftOut();
    missing.add('', error.refusal.detail ?? 'its machine could not be reached');
    yield* missing.files(folder);
  } finally {
    over.abort();
  }
}
