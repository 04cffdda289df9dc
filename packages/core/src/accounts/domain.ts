// The accounts domain: passkeys, sessions, and signing in.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { accountFiles } from './account-files.ts';
import { authorCaller } from './author-tokens/author-caller.ts';
import { type AuthorRoute, authorRoutes } from './author-tokens/author-routes.ts';
import { deletingAfterGrace } from './deletion/delete-after-grace.ts';
import { surplusChallenges } from './passkeys/surplus-challenges.ts';
import { type AccountRoute, accountRoutes } from './routes.ts';
import { sessionCaller } from './sessions/session-caller.ts';

export function accountDomain(context: CoreContext): Domain<AccountRoute | AuthorRoute, 'session' | 'author'> {
  return {
    handlers: { ...accountRoutes(context), ...authorRoutes(context) },
    callers: { session: sessionCaller(context), author: authorCaller(context) },
    workers: [surplusChallenges(context), deletingAfterGrace(context)],
    filesOf: (account) => accountFiles(context, account),
  };
}
