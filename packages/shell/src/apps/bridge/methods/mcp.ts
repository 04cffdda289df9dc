// Tools of the platform and of other apps, for a page. Core decides with the app's own grants, as at the hub; what comes back are words of
// others, which the shell passes on and never shows.
import type { ErrorCode, ProposalState } from '@platform/contract';
import type { Call, MethodsOf } from '../method.ts';
import { cursorText, optional, plainObject, proposalIdText, toolNameText } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

type OfProposal = Pick<Call<'mcp.proposalState'>, 'shell' | 'caller' | 'params'>;

/** @throws BridgeRefusal or ApiError `not_found` for one that is not there, or that another app made */
async function stateOf({ shell, caller, params }: OfProposal): Promise<{ readonly state: ProposalState }> {
  const { proposal } = await shell.call('account.proposals.read', { params });
  // To an app it is not there, as to core's own routes for apps.
  if (proposal.caller !== caller.appId) throw new BridgeRefusal('not_found', 'There is no such proposal.');
  return { state: proposal.state };
}

export const mcpMethods: MethodsOf<'mcp'> = {
  'mcp.listTools': {
    params: { cursor: optional(cursorText) },
    run: ({ shell, caller, params }) => shell.listTools(caller.appId, params.cursor),
  },
  'mcp.callTool': {
    params: { name: toolNameText, arguments: optional(plainObject) },
    run: ({ shell, caller, params }) => shell.callTool(caller.appId, { ...params, propose: false }),
  },
  'mcp.proposeTool': {
    params: { name: toolNameText, arguments: optional(plainObject) },
    async run({ shell, caller, params }) {
      const answer = await shell.callTool(caller.appId, { ...params, propose: true });
      if (answer.kind === 'proposal') return answer.proposal;
      // What kept core from making one, such as too many that wait.
      const [first] = answer.content;
      const why = typeof first?.text === 'string' ? first.text : 'The platform made no proposal of this call.';
      // Core refuses with codes of the table.
      throw new BridgeRefusal((answer.refusal?.code ?? 'upstream_failed') as ErrorCode, why);
    },
  },
  'mcp.proposalState': {
    params: { id: proposalIdText },
    run: stateOf,
  },
  'mcp.reviewProposal': {
    params: { id: proposalIdText },
    front: true,
    async asks(call) {
      const isPending = async () => (await stateOf(call)).state === 'pending';
      if (!(await isPending())) return true;
      await call.shell.reviewProposal(call.params.id);
      // Who closes the question declined to be asked, and an app that asks on has to wait.
      return !(await isPending());
    },
    run: (call, _isDecided) => stateOf(call),
  },
};
