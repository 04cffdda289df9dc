// What a person decides on a proposal, and how an approved one is carried out: once, as it was shown, with what its caller may do
// by then.
import { setTimeout as wait } from 'node:timers/promises';
import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server';
import { type PasskeyConfirmation, refuse } from '@platform/contract';
import { confirmedUnless, type Refused, type SessionCaller } from '../../accounts/face.ts';
import { notify } from '../../database/notify.ts';
import { callTool } from '../hub/call-tool.ts';
import { definitionHash } from '../hub/definition.ts';
import { findTool, type Hub, type HubTool } from '../hub/hub-tool.ts';
import type { ToolCaller } from '../tool-caller.ts';
import { currentCaller } from './current-caller.ts';
import {
  decideProposal,
  findProposal,
  lockPending,
  type ProposalRow,
  type Reader,
  settleProposal,
} from './proposal-queries.ts';

/** For so long the answer to an approval waits for the end. */
const ANSWER_MILLISECONDS = 20_000;

/** Of a call that was begun, and of which no answer came. */
export const UNKNOWN_OUTCOME = 'The platform ended while it made this call. It is not known whether the tool did it.';

export interface Approval {
  readonly id: string;
  readonly session: SessionCaller;
  /** Lower-case hex, of what was shown. */
  readonly argumentsHash: string;
  readonly confirmation: PasskeyConfirmation | undefined;
  readonly refused: Refused;
}

/**
 * Resolves with the proposal when it was carried out, or after a while.
 *
 * @throws RefusalError `not_found`; `proposal_conflict` for one that is not pending, differs from what was shown, or cannot be
 *   carried out any more, which has failed then; `invalid_request` without a confirmation that it needs; `verification_failed`
 */
export async function approveProposal(hub: Hub, approval: Approval): Promise<ProposalRow> {
  const { id, session, argumentsHash, confirmation, refused } = approval;
  const { accountKey } = session;
  const found = await findProposal(hub.database, { accountKey }, id);
  if (found === undefined) throw refuse('not_found');
  const confirming = { caller: session, operation: 'tools.approve', subject: id, confirmation, refused } as const;
  const row = await confirmedUnless(hub, confirming, async (trx, require) => {
    const now = hub.clock();
    const pending = await lockPending(trx, { id, accountKey, now });
    if (pending === undefined) throw refuse('proposal_conflict', 'It is decided or has expired.');
    if (pending.arguments_hash.toString('hex') !== argumentsHash)
      throw refuse('proposal_conflict', 'The arguments are not those that were shown.');
    if (pending.confirms) require();
    await decideProposal(trx, { accountKey }, { id, state: 'running', now });
    await notify(trx, 'proposals-changed', { accountKey });
    return pending;
  });
  const known = await toolOf(hub, row).catch(async (error: unknown) => {
    await settle(hub, row, { state: 'failed', result: failure('The platform failed before it made the call.') });
    throw error;
  });
  if (known === null) {
    const why = 'The app that proposed it may not do this any more, or the tool has changed.';
    await settle(hub, row, { state: 'failed', result: failure(why) });
    throw refuse('proposal_conflict', why);
  }
  const ended = carryOut(hub, row, known);
  await Promise.race([ended, wait(ANSWER_MILLISECONDS, undefined, { ref: false })]);
  return (await findProposal(hub.database, { accountKey }, id)) ?? row;
}

/** @throws RefusalError `not_found`; `proposal_conflict` for one that is not pending */
export async function declineProposal(hub: Hub, reader: Reader, id: string): Promise<ProposalRow> {
  return hub.database.transaction().execute(async (trx) => {
    const declined = await decideProposal(trx, reader, { id, state: 'declined', now: hub.clock() });
    const row = await findProposal(trx, reader, id);
    if (row === undefined) throw refuse('not_found');
    if (!declined) throw refuse('proposal_conflict', 'It is decided or has expired.');
    await notify(trx, 'proposals-changed', { accountKey: row.account_key });
    return row;
  });
}

interface Known {
  readonly caller: ToolCaller;
  readonly tool: HubTool;
}

/** `null` when the caller may not even propose it any more, or the tool is another one than was shown. */
async function toolOf(hub: Hub, row: ProposalRow): Promise<Known | null> {
  const caller = await currentCaller(hub, row.caller_id);
  if (caller === null || caller.accountKey !== row.account_key) return null;
  const tool = await findTool(hub, caller, { name: row.tool });
  return tool !== undefined && definitionHash(tool).equals(row.definition_hash) ? { caller, tool } : null;
}

/** Never rejects. */
async function carryOut(hub: Hub, row: ProposalRow, { caller, tool }: Known): Promise<void> {
  const ended = new AbortController();
  const off = hub.callers.onEnd(caller.credential, () => ended.abort());
  const stillAllowed = async () => {
    const now = await toolOf(hub, row);
    if (now === null) throw refuse('not_authorized', 'The app that proposed it may not do this any more.');
    return now.caller;
  };
  try {
    const result = await callTool(hub, {
      ...{ caller, stillAllowed, tool, arguments: JSON.parse(row.arguments), chain: undefined },
      signal: AbortSignal.any([ended.signal, hub.stopping]),
    });
    await settle(hub, row, { state: result.isError === true ? 'failed' : 'executed', result });
  } catch (error) {
    if (!(error instanceof ProtocolError))
      hub.log.error({ err: error }, 'what became of an approved call of a tool is not known');
    const why = error instanceof ProtocolError ? error.message : UNKNOWN_OUTCOME;
    await settle(hub, row, { state: 'failed', result: failure(why) }).catch((fault: unknown) =>
      hub.log.error({ err: fault }, 'what became of an approved call could not be kept'),
    );
  } finally {
    off();
  }
}

async function settle(
  { database }: Pick<Hub, 'database'>,
  { id, account_key }: ProposalRow,
  { state, result }: { readonly state: 'executed' | 'failed'; readonly result: CallToolResult },
): Promise<void> {
  await settleProposal(database, { id, state, result: JSON.stringify(result) });
  await notify(database, 'proposals-changed', { accountKey: account_key });
}

export function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}
