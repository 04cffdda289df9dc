// Proposals over HTTP: their person decides, those who proposed them ask and withdraw.
import { type DomainRoute, refuse } from '@platform/contract';
import { ceremonyRefused, type Refused } from '../../accounts/face.ts';
import type { HandlersOf } from '../../http/handlers.ts';
import type { Hub } from '../hub/hub-tool.ts';
import { approveProposal, declineProposal } from './decide.ts';
import { findProposal, type Reader } from './proposal-queries.ts';
import { listProposals, proposalOf, shownProposalOf } from './view.ts';

export type ProposalRoute = DomainRoute<'proposals'>;

export function proposalRoutes(hub: Hub): HandlersOf<ProposalRoute> {
  const shown = (row: Parameters<typeof shownProposalOf>[0]) => ({
    status: 200 as const,
    body: { proposal: shownProposalOf(row, hub.clock()) },
  });
  const own = (row: Parameters<typeof proposalOf>[0]) => ({
    status: 200 as const,
    body: { proposal: proposalOf(row, hub.clock()) },
  });

  async function find(reader: Reader, id: string) {
    const row = await findProposal(hub.database, reader, id);
    if (row === undefined) throw refuse('not_found');
    return row;
  }

  return {
    'account.proposals.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listProposals(hub, { reader: { accountKey }, query, of: shownProposalOf }),
    }),
    'account.proposals.read': async ({ caller: { accountKey }, params }) =>
      shown(await find({ accountKey }, params.id)),
    'account.proposals.approve': async ({ caller: session, params: { id }, body, request }) => {
      const refused: Refused = (fault) => ceremonyRefused(hub.log, request, 'approve-tool-call', fault);
      const { argumentsHash, confirmation } = body;
      return shown(await approveProposal(hub, { id, session, argumentsHash, confirmation, refused }));
    },
    'account.proposals.decline': async ({ caller: { accountKey }, params }) =>
      shown(await declineProposal(hub, { accountKey }, params.id)),
    'services.proposals.list': async ({ caller, query }) => ({
      status: 200,
      body: await listProposals(hub, { reader: { callerId: caller.installationId }, query, of: proposalOf }),
    }),
    'services.proposals.read': async ({ caller, params }) =>
      own(await find({ callerId: caller.installationId }, params.id)),
    'services.proposals.cancel': async ({ caller, params }) =>
      own(await declineProposal(hub, { callerId: caller.installationId }, params.id)),
  };
}
