// What a caller gets for a call that its person has to approve. A client that can show addresses is given that of the page in the
// shell and asks again (`input_required` of revision 2026-07-28); all others get the proposal, and may ask what became of it.
import { type CallToolResult, type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server';
import { refuse } from '@platform/contract';
import type { ToolCallParts } from '../hub/call-tool.ts';
import type { Hub } from '../hub/hub-tool.ts';
import { declineProposal, failure } from './decide.ts';
import { findProposal, type ProposalRow } from './proposal-queries.ts';
import { propose } from './propose.ts';
import { proposalUrl, stateOf } from './view.ts';

/** Of a client that asks again: for so long it waits for the decision. */
const DECISION_MILLISECONDS = 25_000;
const QUESTION = 'approval';

export interface Round {
  /** Whether the client shows addresses to its person (elicitation in URL mode). */
  readonly showsAddresses: boolean;
  /** What it was given in the round before. */
  readonly state: string | undefined;
  /** Its answers in this one, whatever they are. */
  readonly answers: Readonly<Record<string, unknown>> | undefined;
}

/** @throws ProtocolError, RefusalError as a proposal does */
export async function askPerson(
  hub: Hub,
  call: ToolCallParts,
  { showsAddresses, state, answers }: Round,
): Promise<CallToolResult | InputRequiredResult> {
  const { caller, signal } = call;
  if (state === undefined) {
    const row = await propose(hub, call);
    return showsAddresses ? question(hub, row) : pending(hub, row);
  }
  const row = await proposedBefore(hub, call, state);
  const { action } = (answers?.[QUESTION] ?? {}) as { readonly action?: unknown };
  if ((action === 'decline' || action === 'cancel') && stateOf(row, hub.clock()) === 'pending') {
    // Approved meanwhile, it is being done.
    const declined = await declineProposal(hub, { callerId: caller.id }, row.id).catch(() => null);
    if (declined !== null) return failure('The person declined it.');
  }
  return outcomeOf(hub, await decided(hub, row, signal));
}

async function proposedBefore(hub: Hub, { caller, tool }: ToolCallParts, state: string): Promise<ProposalRow> {
  const id = String(hub.cursors.decode(listOf(caller.id), state));
  const row = await findProposal(hub.database, { callerId: caller.id }, id);
  if (row === undefined || row.tool !== tool.name) throw refuse('not_found', 'There is no such proposal any more.');
  return row;
}

/** The proposal once it is decided and carried out, or as it is after a while. */
async function decided(hub: Hub, row: ProposalRow, signal: AbortSignal): Promise<ProposalRow> {
  const { signals, clock, database } = hub;
  const end = AbortSignal.any([signal, AbortSignal.timeout(DECISION_MILLISECONDS)]);
  for (let current = row; ; ) {
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const look = (): void => resolve();
    const offs = [signals.onAbout('proposals-changed', 'accountKey', row.account_key, look), signals.onReset(look)];
    end.addEventListener('abort', look, { once: true });
    try {
      current = (await findProposal(database, { callerId: row.caller_id }, row.id)) ?? current;
      if (end.aborted || stateOf(current, clock()) !== 'pending') return current;
      await changed;
    } finally {
      for (const off of offs) off();
    }
  }
}

function outcomeOf(hub: Hub, row: ProposalRow): CallToolResult | InputRequiredResult {
  const state = stateOf(row, hub.clock());
  if (state === 'pending') return question(hub, row);
  if (state === 'declined') return failure('The person declined it.');
  if (state === 'expired') return failure('Nobody decided on it in time.');
  return row.result === null ? failure('What became of it was not kept.') : JSON.parse(row.result);
}

function question(hub: Hub, { id, caller_id, tool }: ProposalRow): InputRequiredResult {
  const url = proposalUrl(hub, id);
  return inputRequired({
    inputRequests: {
      [QUESTION]: inputRequired.elicitUrl({ message: `Decide on the platform whether ${tool} is called.`, url }),
    },
    requestState: hub.cursors.encode(listOf(caller_id), id),
  });
}

function pending(hub: Hub, { id, tool, expires_at }: ProposalRow): CallToolResult {
  const proposal = { id, state: 'pending', tool, expiresAt: expires_at.toISOString() };
  const text = `${tool} was not called. It is proposed to the person, who decides at ${proposalUrl(hub, id)} until ${proposal.expiresAt}. platform-proposals.get with the id ${id} says what became of it.`;
  return { content: [{ type: 'text', text }], structuredContent: { proposal } };
}

function listOf(callerId: string): string {
  return `tool-proposal:${callerId}`;
}
