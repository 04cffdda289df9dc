// What an app proposed, for its own page: what became of it, and the question about it.
import type { ProposalState } from '@platform/contract';
import { call } from '../../api/client.ts';
import { BridgeRefusal } from '../../apps/bridge/refusal.ts';
import { askAboutProposal } from './proposal-review.tsx';

/** @throws BridgeRefusal or ApiError `not_found` for one that is not there, or that another app made */
export async function proposalState(asker: string, id: string): Promise<{ readonly state: ProposalState }> {
  const { proposal } = await call('account.proposals.read', { params: { id } });
  // To an app it is not there, as to core's own routes for apps.
  if (proposal.caller !== asker) throw new BridgeRefusal('not_found', 'There is no such proposal.');
  return { state: proposal.state };
}

/** @returns whether the person decided */
export async function reviewProposal(asker: string, id: string): Promise<boolean> {
  await proposalState(asker, id);
  await askAboutProposal(id);
  return (await proposalState(asker, id)).state !== 'pending';
}
