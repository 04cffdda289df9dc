// What search adds to an export: the entries of each installed app, without their text, of which only words are stored.
import { limits } from '@platform/contract';
import { type AccountFile, everyRow, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { everyApp } from '../installations/face.ts';
import { type ListedEntry, listEntries } from './index-queries.ts';

export async function* searchFiles(context: CoreContext, accountKey: string): AsyncGenerator<AccountFile> {
  for await (const { appId, id } of everyApp(context, accountKey)) {
    const entries = everyRow((last: ListedEntry | undefined) =>
      listEntries(context.database, id, { after: last?.id ?? '', limit: limits.pageMaximum.value }),
    );
    yield* jsonLines(`apps/${appId}/search`, entries);
  }
}
