// A call that waits for its person: checked as if it were made, and kept as it is. Nothing else happens until they approve it.
import { limits, refuse, sizeText } from '@platform/contract';
import { newId } from '../../credentials/ids.ts';
import { notify } from '../../database/notify.ts';
import { selectAppNames } from '../../installations/face.ts';
import { argumentsHash } from '../arguments-hash.ts';
import { lengthen } from '../chain.ts';
import { checkArguments, type ToolCallParts } from '../hub/call-tool.ts';
import { definitionHash, isGrave } from '../hub/definition.ts';
import type { Hub } from '../hub/hub-tool.ts';
import { recordCall } from '../record.ts';
import type { ToolCaller } from '../tool-caller.ts';
import { countAsked, deleteSurplus, insertProposal, lockProposalsOf, type ProposalRow } from './proposal-queries.ts';

/**
 * @throws ProtocolError for arguments that the tool does not take
 * @throws RefusalError `payload_too_large`, `not_authorized` for a chain that cannot go on, `rate_limited`
 */
export async function propose(hub: Hub, call: ToolCallParts): Promise<ProposalRow> {
  const { caller, tool, chain, arguments: given } = call;
  const begun = performance.now();
  checkArguments(hub, call);
  lengthen(hub, caller.id, chain, tool.of === 'app' ? tool.serving.id : null);
  await call.stillAllowed();
  const now = hub.clock();
  const row: ProposalRow = {
    id: newId('prop', hub),
    account_key: caller.accountKey,
    caller_id: caller.id,
    caller: caller.recorded,
    caller_name: await nameOf(hub, caller),
    caller_host: caller.host,
    tool: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
    app_id: tool.of === 'app' ? tool.serving.app_id : null,
    app_name: tool.of === 'app' ? tool.serving.name : null,
    definition_hash: definitionHash(tool),
    confirms: isGrave(tool),
    arguments: JSON.stringify(given),
    arguments_hash: argumentsHash(tool.name, given),
    state: 'pending',
    created_at: now,
    expires_at: new Date(now.getTime() + limits.proposalSeconds.value * 1_000),
    decided_at: null,
    result: null,
  };
  await hub.database.transaction().execute(async (trx) => {
    await lockProposalsOf(trx, caller.id);
    const { asked, waitingBytes } = await countAsked(trx, caller.id, now);
    // Those declined count too: nobody asks again and again.
    if (asked >= limits.proposalsPending.value)
      throw refuse(
        'rate_limited',
        `Within ${limits.proposalSeconds.value / 60} minutes, ${limits.proposalsPending.value} proposals may wait for a decision or be declined.`,
        { retryAfter: 60 },
      );
    if (waitingBytes + Buffer.byteLength(row.arguments) > limits.proposalBytes.value)
      throw refuse(
        'rate_limited',
        `The arguments of proposals that wait may take ${sizeText(limits.proposalBytes.value)} together.`,
        { retryAfter: 60 },
      );
    await insertProposal(trx, row);
    await deleteSurplus(trx, { callerId: caller.id, kept: limits.proposalsKept.value });
    await notify(trx, 'proposals-changed', { accountKey: caller.accountKey });
  });
  await recordCall(hub, {
    ...{ accountKey: caller.accountKey, caller: caller.recorded, tool: tool.name, outcome: 'proposed' },
    ...{ milliseconds: performance.now() - begun, argumentsHash: row.arguments_hash },
  });
  return row;
}

async function nameOf(
  { database }: Pick<Hub, 'database'>,
  { accountKey, credential, name }: ToolCaller,
): Promise<string> {
  if (credential.kind === 'connection') return name;
  const [found] = await selectAppNames(database, [{ accountKey, appId: credential.appId }]);
  return found ?? name;
}
