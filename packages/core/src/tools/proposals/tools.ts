// How those who propose calls of tools learn what became of them, as tools.
import { routes } from '@platform/contract';
import { type BuiltInTool, builtInTool } from '../../built-in-tool.ts';

const { params: ofProposal } = routes['services.proposals.read'];

export const proposalTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-proposals.list',
    title: 'List proposals',
    description: 'The calls that you proposed to this person, the newest first, and whether they were approved.',
    route: 'services.proposals.list',
    effect: 'reads',
    for: 'proposers',
    arguments: routes['services.proposals.list'].query,
    place: (query) => ({ query }),
  }),
  builtInTool({
    name: 'platform-proposals.get',
    title: 'Look at a proposal',
    description:
      'What became of a call that you proposed: pending, executed, failed, declined or expired, and what the tool answered.',
    route: 'services.proposals.read',
    effect: 'reads',
    for: 'proposers',
    arguments: ofProposal,
    place: (params) => ({ params }),
  }),
  builtInTool({
    name: 'platform-proposals.cancel',
    title: 'Withdraw a proposal',
    description: 'Withdraws a call that you proposed and that nobody has decided on yet.',
    route: 'services.proposals.cancel',
    effect: 'changes',
    for: 'proposers',
    arguments: ofProposal,
    place: (params) => ({ params }),
  }),
];
