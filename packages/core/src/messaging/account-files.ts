// What messaging adds to an export: conversations, and in a file of its own all messages of each, newest first.
import { createHash } from 'node:crypto';
import { limits, RefusalError } from '@platform/contract';
import { type AccountFile, everyPage, jsonFile, jsonLines } from '../account-files.ts';
import type { ChosenTransport } from './choose-transport.ts';
import { bridgeIdOf } from './opaque-ids.ts';
import type { Transport, TransportConversation } from './transport.ts';

export async function* messagingFiles(
  { transport, bundled }: Pick<ChosenTransport, 'transport' | 'bundled'>,
  accountKey: string,
): AsyncGenerator<AccountFile> {
  yield* filesOf(bundled, accountKey, { list: 'conversations', isMeant: () => true });
  if (transport === bundled) return;
  const isMeant = ({ id }: TransportConversation) => bridgeIdOf(id) !== null;
  try {
    yield* filesOf(transport, accountKey, { list: 'conversations-of-bridge', isMeant });
  } catch (error) {
    // The rest of the export is worth having without it.
    if (!(error instanceof RefusalError)) throw error;
    yield jsonFile('conversations-of-bridge-incomplete.json', { reason: error.message });
  }
}

async function* filesOf(
  transport: Transport,
  accountKey: string,
  { list, isMeant }: { readonly list: string; readonly isMeant: (one: TransportConversation) => boolean },
): AsyncGenerator<AccountFile> {
  const limit = limits.pageMaximum.value;
  async function* conversations(): AsyncGenerator<TransportConversation> {
    for await (const one of everyPage((at) => transport.conversations(accountKey, { limit, at })))
      if (isMeant(one)) yield one;
  }
  yield* jsonLines(list, conversations());
  for await (const { id } of conversations())
    yield* jsonLines(
      `messages/${fileNameOf(id)}`,
      everyPage((at) => transport.messages(accountKey, id, { limit, at })),
    );
}

function fileNameOf(id: string): string {
  return bridgeIdOf(id) === null ? id : createHash('sha256').update(id).digest('hex').slice(0, 32);
}
