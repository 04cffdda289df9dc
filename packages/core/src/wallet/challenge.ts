// What a passkey signs to approve a proposal: the hash of exactly the operation that was shown (contract 4h).
import { limits, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { ConfirmationSubject, OwnChallenge } from '../lifecycle.ts';
import { findProposal } from './proposal-queries.ts';

/** @throws RefusalError `not_found`; `proposal_conflict` for one that is decided or of another kind */
export async function approvalChallenge(
  { database, clock }: Pick<CoreContext, 'database' | 'clock'>,
  { accountKey, operation, subject }: ConfirmationSubject,
): Promise<OwnChallenge | undefined> {
  if (operation !== 'wallet.payment' && operation !== 'wallet.policy') return undefined;
  const row = await findProposal(database, { accountKey }, subject ?? '');
  if (row === undefined) throw refuse('not_found');
  if (row.state !== 'pending' || row.expires_at <= clock() || operation !== `wallet.${row.kind}`)
    throw refuse('proposal_conflict', 'It is decided or has expired.');
  return {
    challenge: row.operation_hash,
    milliseconds: limits.walletApprovalSeconds.value * 1_000,
    repeatsUntil: row.expires_at,
  };
}
