// What the accounts domain adds to an export: the account, its passkeys without anything private, its sessions and command lines.
import { type AccountFile, type AccountOfFiles, jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { tokensOf } from './author-tokens/author-queries.ts';
import { authorTokenView } from './author-tokens/author-routes.ts';
import { passkeyView } from './passkeys/passkeys.ts';
import { planOf } from './plan.ts';
import { passkeysOf, selectAccount } from './queries.ts';
import { sessionsOf } from './sessions/session-queries.ts';
import { sessionView } from './sessions/session-view.ts';

export async function* accountFiles(
  { database, settings, clock }: CoreContext,
  { accountKey }: AccountOfFiles,
): AsyncGenerator<AccountFile> {
  const account = await selectAccount(database, accountKey);
  yield jsonFile('account.json', {
    name: account.name,
    createdAt: account.created_at,
    plan: planOf(await settings.current(), account.plan),
    pausedAt: account.paused_at,
  });
  const passkeys = await passkeysOf(database, accountKey);
  yield jsonFile('passkeys.json', {
    items: passkeys.map((passkey) => ({
      ...passkeyView(passkey),
      credentialId: passkey.id,
      // COSE_Key (RFC 9052).
      publicKey: passkey.public_key.toString('base64url'),
      counter: Number(passkey.counter),
    })),
  });
  const sessions = await sessionsOf(database, accountKey, clock());
  yield jsonFile('sessions.json', { items: sessions.map((session) => sessionView(session, null)) });
  const tokens = await tokensOf(database, accountKey, clock());
  yield jsonFile('command-lines.json', { items: tokens.map(authorTokenView) });
}
