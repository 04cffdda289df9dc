// The command line of an author, by token (`pat_…`): publishes and tries out apps of the account, and reads their logs.
import type { CoreContext } from '../../context.ts';
import type { CallerScheme } from '../../http/callers/scheme.ts';
import { findToken } from './author-queries.ts';

/** The command line of an author: publishes and tries out apps of the account, and reads their logs. */
export interface AuthorCaller {
  readonly kind: 'author';
  readonly tokenId: string;
  readonly accountKey: string;
  readonly accountName: string;
  /** As it named itself. */
  readonly machine: string;
  readonly expiresAt: Date;
}

declare module '../../http/caller.ts' {
  interface CallerKinds {
    author: AuthorCaller;
  }
}

export function authorCaller(context: CoreContext): CallerScheme<'author'> {
  return {
    kind: 'author',
    presented: {
      bearer: 'author',
      find: (tokenHash) => findAuthor(context, tokenHash),
      expired: 'The token of this command line has expired. Run `./platform login` again.',
    },
    subject: ({ accountKey }) => accountKey,
    from: 'programs',
    changes: [
      {
        signal: 'author-token-ended',
        about: 'accountKey',
        matches: (caller, ended) => ended.tokenId === caller.tokenId,
        ends: true,
      },
      { signal: 'pause-changed', about: 'accountKey', ends: true },
    ],
  };
}

/** @returns `null` for an unknown or ended token and for one of a suspended account */
async function findAuthor({ pool, clock }: CoreContext, tokenHash: Buffer): Promise<AuthorCaller | null> {
  const row = await findToken(pool, tokenHash, clock());
  if (row === undefined) return null;
  return {
    kind: 'author',
    tokenId: row.id,
    accountKey: row.account_key,
    accountName: row.name,
    machine: row.machine,
    expiresAt: row.expires_at,
  };
}
