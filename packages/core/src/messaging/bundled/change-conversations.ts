// Every change of conversations of the bundled transport: what comes at the same time shares a transaction, in which the accounts
// are locked, both sides are read, the rules are applied one after the other, and what became of them is stored.
import { RefusalError } from '@platform/contract';
import { Together } from '../../background/together.ts';
import type { CoreContext } from '../../context.ts';
import { uuidv7 } from '../../credentials/ids.ts';
import { changingAt } from '../../database/changing.ts';
import { onBehalfOf } from '../../database/fair-pool.ts';
import { notifyEach } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import { queueNotices } from '../notices.ts';
import { Change } from './change.ts';
import { type Changed, type Operation, pairOf } from './operations.ts';
import {
  insertConversations,
  insertMessages,
  lockParties,
  selectAccountsOf,
  selectConversations,
  selectReadPlaces,
  selectSent,
  selectSides,
  updateParties,
  upsertSides,
} from './queries.ts';

/** Operations in one transaction. */
const MOST_TOGETHER = 100;
/** Transactions at the same time: one that waits for the lock of an account does not hold up the others. */
const TRANSACTIONS = 3;
const DAY = 86_400_000;

type Context = Pick<CoreContext, 'database' | 'clock' | 'time' | 'random' | 'masterKey' | 'at'>;

/** Resolves when the change is durable. @throws RefusalError as the rules (conversation-rules.ts), `not_found` */
export type ChangeConversation = (operation: Operation) => Promise<Changed>;

export function conversationChanger(context: Context): ChangeConversation {
  let numbers = 0;
  const together = new Together<{ readonly operation: Operation; readonly number: string }, Changed | RefusalError>({
    ownerOf: () => '',
    // One account's would wait for each other at its lock.
    shares: { of: ({ operation }) => operation.accountKey, groups: 1 },
    keyOf: ({ number }) => number,
    groups: TRANSACTIONS,
    most: MOST_TOGETHER,
    // A transaction of many accounts waits for a connection in the line of none of them.
    work: (items) =>
      onBehalfOf('messaging.change', () =>
        applyAll(
          context,
          items.map(({ operation }) => operation),
        ),
      ),
    didNothing: () => false,
  });
  return async (operation) => {
    numbers += 1;
    const outcome = await together.add({ operation, number: String(numbers) });
    if (outcome instanceof RefusalError) throw outcome;
    return outcome;
  };
}

async function applyAll(context: Context, operations: readonly Operation[]): Promise<(Changed | RefusalError)[]> {
  return changingAt(context, 'messaging.change', async (trx) => {
    const change = await load(trx, context, operations);
    const outcomes = operations.map((operation) => change.apply(operation));
    await store(trx, context, change);
    return outcomes;
  });
}

async function load(trx: Executor, context: Context, operations: readonly Operation[]): Promise<Change> {
  const now = context.clock();
  const ids = operations.flatMap((one) => ('conversationId' in one ? [one.conversationId] : []));
  const pairs = operations.flatMap((one) => (one.do === 'open' ? [pairOf(one.accountKey, one.otherKey)] : []));
  const keys = [...(await selectAccountsOf(trx, ids)), ...pairs.flatMap(({ lowKey, highKey }) => [lowKey, highKey])];
  const parties = await lockParties(trx, [...new Set(keys)], { since: new Date(now.getTime() - DAY), now });
  const conversations = await selectConversations(trx, ids, pairs);
  const byId = new Map(conversations.map((one) => [one.id, one]));
  const sides = await selectSides(trx, [...byId.keys()]);
  const sends = operations.filter((one) => one.do === 'send');
  const sent = sends.length === 0 ? [] : await selectSent(trx, sends);
  const reads = operations.filter((one) => one.do === 'read');
  const places =
    reads.length === 0
      ? []
      : await selectReadPlaces(
          trx,
          reads.map((one) => ({ ...one, low: byId.get(one.conversationId)?.lowKey === one.accountKey })),
        );
  return new Change(context, {
    moment: { now, proven: context.time.proven() },
    parties,
    conversations,
    sides,
    sent,
    readPlaces: new Map(reads.map((one, index) => [one, places[index]])),
    newId: () => uuidv7(context),
  });
}

async function store(trx: Executor, context: Context, { stored }: Change): Promise<void> {
  if (stored.conversations.length > 0) await insertConversations(trx, stored.conversations);
  if (stored.sides.length > 0) await upsertSides(trx, stored.sides);
  if (stored.messages.length > 0) await insertMessages(trx, stored.messages);
  if (stored.parties.length === 0) return;
  await updateParties(trx, stored.parties);
  await notifyEach(
    trx,
    'messaging-changed',
    stored.parties.map(({ accountKey }) => ({ accountKey })),
  );
  await queueNotices(context, trx, stored.noticed);
}
