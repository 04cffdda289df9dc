// Tools of the platform and of other apps, for a page. Core decides with the app's own grants, as at the hub; what comes back are words of
// others, which the shell passes on and never shows.
import type { ErrorCode } from '@platform/contract';
import type { MethodsOf } from '../method.ts';
import { cursorText, optional, plainObject, proposalIdText, toolNameText } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

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
    run: ({ shell, caller, params }) => shell.proposalState(caller.appId, params.id),
  },
  'mcp.reviewProposal': {
    params: { id: proposalIdText },
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewProposal(caller.appId, params.id),
    run: ({ shell, caller, params }, _isDecided) => shell.proposalState(caller.appId, params.id),
  },
};
