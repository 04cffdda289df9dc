// What messaging adds to an export: conversations, and in a file of its own all messages of each, newest first.
import { limits } from '@platform/contract';
import { type AccountFile, everyPage, jsonLines } from '../account-files.ts';
import type { Transport } from './transport.ts';

export async function* messagingFiles(transport: Transport, accountKey: string): AsyncGenerator<AccountFile> {
  const limit = limits.pageMaximum.value;
  const conversations = () => everyPage((at) => transport.conversations(accountKey, { limit, at }));
  yield* jsonLines('conversations', conversations());
  for await (const { id } of conversations())
    yield* jsonLines(
      `messages/${id}`,
      everyPage((at) => transport.messages(accountKey, id, { limit, at })),
    );
}
