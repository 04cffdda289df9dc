import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'mcp'> = {
  'mcp.listTools': [{}, { cursor: 'bm90ZXMuYWRk' }],
  'mcp.callTool': [{ name: 'notes.count' }, { name: 'notes.add', arguments: { note: 'Milk' } }],
  'mcp.proposeTool': [{ name: 'notes.add', arguments: { note: 'Milk' } }],
  'mcp.proposalState': [{ id: 'prop-1' }],
  'mcp.reviewProposal': [{ id: 'prop-1' }],
};
