// What an export has of collections and files.
import type { AccountFile } from '../../account-files.ts';
import { collectionFiles } from './collections.ts';
import { fileFiles } from './files.ts';
import type { StagingContext } from './staged-body.ts';

export async function* contentFiles(context: StagingContext, accountKey: string): AsyncGenerator<AccountFile> {
  yield* collectionFiles(context, accountKey);
  yield* fileFiles(context, accountKey);
}
