// Account recovery by the operator: a single-use link, valid for 15 minutes, that adds a passkey to an account.
import { limits } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { lockAccount } from '../queries.ts';
import { replaceEnrolmentLink } from '../sessions/session-queries.ts';

export interface EnrolmentLink {
  /** `<origin>/#enrol=<token>`: the fragment never reaches a server or its log. */
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * A new link for the account, which ends a former one. Possession of the link is control of the account.
 *
 * @returns `null` when no account of that name exists or it is suspended
 */
export function createEnrolmentLink(
  {
    database,
    config,
    clock,
    time,
    random,
  }: Pick<CoreContext, 'database' | 'clock' | 'time' | 'random'> & {
    readonly config: Pick<CoreContext['config'], 'origin'>;
  },
  accountName: string,
): Promise<EnrolmentLink | null> {
  return database.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { name: accountName });
    if (account === undefined) return null;
    const now = clock();
    const expiresAt = new Date(now.getTime() + limits.enrolmentLinkSeconds.value * 1000);
    const token = `pel_${random(32).toString('base64url')}`;
    const link = { token_hash: hashCredential(token), account_key: account.key, expires_at: expiresAt };
    await replaceEnrolmentLink(trx, link, time.proven());
    return { url: `${config.origin}/#enrol=${token}`, expiresAt };
  });
}
