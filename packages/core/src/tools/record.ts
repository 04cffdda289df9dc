// The record of tool calls: who called what, when, and what came of it; never with which arguments.
import { limits, type ToolCall, type ToolOutcome } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import { earlier } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { uuidv7 } from '../credentials/ids.ts';
import type { ListPage, PageQuery } from '../http/list-page.ts';
import { insertToolCall, removeOldToolCalls, removeSurplusToolCalls, selectToolCalls } from './queries.ts';

const PERIOD_MILLISECONDS = 30 * 60_000;
const BATCH = 1_000;
const DAY_MILLISECONDS = 86_400_000;

export interface Made {
  readonly accountKey: string;
  readonly caller: string;
  /** By its full name. */
  readonly tool: string;
  readonly outcome: ToolOutcome;
  readonly milliseconds: number;
  readonly argumentsHash: Buffer;
}

export async function recordCall(context: CoreContext, made: Made): Promise<void> {
  context.count('platform_core_tool_calls_total', { outcome: made.outcome });
  await insertToolCall(context.database, {
    id: uuidv7(context),
    account_key: made.accountKey,
    at: context.clock(),
    caller: made.caller,
    tool: made.tool,
    outcome: made.outcome,
    milliseconds: Math.round(made.milliseconds),
    arguments_hash: made.argumentsHash,
  });
}

/** Newest first. @throws RefusalError `invalid_cursor` */
export async function listToolCalls(
  { database, cursors }: Pick<CoreContext, 'database' | 'cursors'>,
  accountKey: string,
  { limit, cursor }: PageQuery,
): Promise<ListPage<ToolCall>> {
  const list = `tool-calls:${accountKey}`;
  const before = cursor === undefined ? null : (cursors.decode(list, cursor) as string);
  const rows = await selectToolCalls(database, accountKey, { before, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => ({
      at: row.at.toISOString(),
      caller: row.caller,
      tool: row.tool,
      outcome: row.outcome,
      milliseconds: row.milliseconds,
      argumentsHash: row.arguments_hash.toString('hex'),
    })),
    nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null,
  };
}

/** Removes what is older than it is kept, and what an account has too many of. */
export function toolCallRetention(context: CoreContext): PeriodicTask {
  const { database } = context;
  let after = '';
  return new PeriodicTask(context, {
    name: 'tool-call-retention',
    everyMilliseconds: PERIOD_MILLISECONDS,
    async piece(proven) {
      const oldest = earlier(proven, limits.toolCallDays.value * DAY_MILLISECONDS);
      if ((await removeOldToolCalls(database, oldest, BATCH)) > 0) return true;
      const next = await removeSurplusToolCalls(database, { after, kept: limits.toolCallsKept.value, most: BATCH });
      if (next?.removed === 0) after = next.accountKey;
      if (next === null) after = '';
      return next !== null;
    },
  });
}
