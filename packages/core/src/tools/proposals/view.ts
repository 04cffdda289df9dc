// Proposals as those who proposed them see them, and as their person does.
import type { Proposal, ProposalState, ShownProposal } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { ListPage, PageQuery } from '../../http/list-page.ts';
import { type ProposalRow, type Reader, selectProposals } from './proposal-queries.ts';

/** The address of the page on which a person decides. */
export function proposalUrl({ config }: Pick<CoreContext, 'config'>, id: string): string {
  return `${config.origin}/#/proposals/${id}`;
}

export function stateOf({ state, expires_at }: Pick<ProposalRow, 'state' | 'expires_at'>, now: Date): ProposalState {
  if (state === 'running') return 'pending';
  return state === 'pending' && expires_at <= now ? 'expired' : state;
}

export function proposalOf(row: ProposalRow, now: Date): Proposal {
  return {
    id: row.id,
    state: stateOf(row, now),
    tool: row.tool,
    caller: row.caller,
    arguments: JSON.parse(row.arguments),
    argumentsHash: row.arguments_hash.toString('hex'),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    ...(row.result === null ? {} : { result: JSON.parse(row.result) }),
  };
}

export function shownProposalOf(row: ProposalRow, now: Date): ShownProposal {
  return {
    ...proposalOf(row, now),
    callerName: row.caller_name,
    callerHost: row.caller_host,
    title: row.title,
    description: row.description,
    app: row.app_id === null ? null : { id: row.app_id, name: row.app_name ?? row.app_id },
    confirms: row.confirms,
  };
}

/** Newest first, without results. @throws RefusalError `invalid_cursor` */
export async function listProposals<Item>(
  { database, cursors, clock }: Pick<CoreContext, 'database' | 'cursors' | 'clock'>,
  {
    reader,
    query,
    of,
  }: {
    readonly reader: Reader;
    readonly query: PageQuery & { readonly state?: ProposalState | undefined };
    of(row: ProposalRow, now: Date): Item;
  },
): Promise<ListPage<Item>> {
  const { limit, cursor, state } = query;
  const owner = 'callerId' in reader ? reader.callerId : reader.accountKey;
  const list = `proposals:${owner}:${state ?? ''}`;
  const before = cursor === undefined ? null : (cursors.decode(list, cursor) as string);
  const now = clock();
  const { rows, more } = await selectProposals(database, reader, { state, before, limit, now });
  const last = rows.at(-1);
  return {
    items: rows.map((row) => of(row, now)),
    nextCursor: more && last !== undefined ? cursors.encode(list, last.id) : null,
  };
}
