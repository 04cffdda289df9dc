// Reads a proposal to the wallet and puts it before the person.
import { call } from '../../api/client.ts';
import type { DecidedProposal } from '../../apps/bridge/method.ts';
import { type Asker, ask } from '../prompts/ask.tsx';
import { showToast } from '../toasts/toasts.ts';
import { WalletReview } from './wallet-review.tsx';

/** @returns the proposal as it is once the review is closed. @throws ApiError `not_found` */
export async function askAboutWalletProposal(id: string, asker: Asker | null): Promise<DecidedProposal> {
  const read = await call('wallet.proposals.read', { params: { id } });
  if (read.proposal.state !== 'pending') {
    showToast({ title: 'There is nothing to decide', body: 'The proposal was decided on, or has expired.' });
    return { declined: false, proposal: read.proposal };
  }
  const approved = await ask(WalletReview, asker, { ...read });
  const { proposal } = await call('wallet.proposals.read', { params: { id } });
  return { declined: !approved, proposal };
}
