// What core asks for, by the names of the contract.
import type {
  MessagingBridgeInput,
  MessagingBridgeNotices,
  MessagingBridgeNoticesInput,
  MessagingBridgeOperation,
  MessagingBridgeResult,
  MessagingBridgeSubject,
} from '@platform/contract';
import type { Account } from './accounts/account.ts';
import type { Accounts } from './accounts/accounts.ts';
import { accept, close, markRead, openDirect } from './conversations/act.ts';
import { conversationIdOf } from './conversations/book.ts';
import {
  firstNews,
  listConversations,
  listMessages,
  newsAfter,
  numberOf,
  shownConversation,
  shownMessage,
} from './conversations/read.ts';
import { sendMessage } from './conversations/send.ts';
import { OperationError } from './failure.ts';
import { MatrixError } from './matrix/homeserver.ts';
import { profileAnswer } from './matrix/shapes.ts';

export interface Asked<Operation extends MessagingBridgeOperation> {
  readonly subject: MessagingBridgeSubject;
  readonly input: MessagingBridgeInput<Operation>;
  /** Aborts when core no longer waits. */
  readonly signal: AbortSignal;
}

export type Operations = {
  readonly [Operation in MessagingBridgeOperation]: (
    asked: Asked<Operation>,
  ) => Promise<MessagingBridgeResult<Operation>>;
};

/** What core asks for all accounts together. */
export type AskNotices = (input: MessagingBridgeNoticesInput, signal: AbortSignal) => Promise<MessagingBridgeNotices>;

export function openOperations(accounts: Accounts, clock: () => number): Operations {
  const conversation = async <Input>(
    { subject, input }: { readonly subject: MessagingBridgeSubject; readonly input: Input },
    act: (account: Account, input: Input) => Promise<Parameters<typeof shownConversation>[0]>,
    ofConversation?: string,
  ) => ({
    conversation: shownConversation(await accounts.use(subject, (account) => act(account, input), ofConversation)),
  });

  return {
    identity: ({ subject }) => accounts.use(subject, async ({ userId }) => ({ identity: { transportUserId: userId } })),
    resolve: ({ subject, input }) => accounts.use(subject, (account) => resolve(account, input.address)),
    conversations: ({ subject, input }) => accounts.use(subject, async ({ book }) => listConversations(book, input)),
    direct: ({ subject, input }) =>
      accounts.use(
        subject,
        async (account) => {
          const { conversation: opened, created } = await openDirect(account, input.to, clock);
          return { conversation: shownConversation(opened), created };
        },
        conversationIdOf(input.to),
      ),
    messages: ({ subject, input }) => accounts.use(subject, async ({ book }) => listMessages(book, input)),
    send: ({ subject, input }) =>
      accounts.use(
        subject,
        async (account) => ({ message: shownMessage(await sendMessage(account, input, clock)) }),
        input.conversationId,
      ),
    sync: (asked) => waitForNews(accounts, asked),
    accept: (asked) =>
      conversation(asked, (account, input) => accept(account, input.conversationId, clock), asked.input.conversationId),
    // Not in the conversation's turn: whoever blocks somebody does not wait for their server.
    decline: (asked) =>
      conversation(asked, (account, input) => close(account, input.conversationId, 'declined', clock)),
    leave: (asked) => conversation(asked, (account, input) => close(account, input.conversationId, 'left', clock)),
    block: (asked) => conversation(asked, (account, input) => close(account, input.conversationId, 'blocked', clock)),
    read: (asked) => conversation(asked, (account, input) => markRead(account, input.conversationId, input.messageId)),
    async forget({ subject }) {
      await accounts.forget(subject);
      return {};
    },
  };
}

/** Whether somebody has this address: other servers are asked by the homeserver. */
async function resolve(account: Account, userId: string): Promise<MessagingBridgeResult<'resolve'>> {
  try {
    const { homeserver, as } = account;
    const path = ['_matrix', 'client', 'v3', 'profile', userId];
    await account.apart(() => homeserver.request(as, { method: 'GET', path, answer: profileAnswer, asksOthers: true }));
    return { contact: { transportUserId: userId } };
  } catch (error) {
    if (!(error instanceof MatrixError) || error.status === 429) throw error;
    if (error.code === 'M_NOT_FOUND' || error.code === 'M_INVALID_PARAM' || error.code === 'M_FORBIDDEN')
      return { contact: null };
    throw new OperationError('unreachable', 'The server of this address does not answer.', { cause: error });
  }
}

async function waitForNews(
  accounts: Accounts,
  { subject, input, signal }: Asked<'sync'>,
): Promise<MessagingBridgeResult<'sync'>> {
  const { cursor, timeoutMs, limit } = input;
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  for (;;) {
    // Before it looks, so that nothing falls between.
    const waiting = new AbortController();
    const changed = accounts.changed(subject.accountId, AbortSignal.any([until, waiting.signal]));
    try {
      const answer = await accounts.use(subject, async ({ book }) => {
        const epoch = book.epoch();
        const cursorAt = (number: number) => `${epoch}.${number}`;
        if (cursor === undefined) {
          return {
            cursor: cursorAt(book.last()),
            conversations: firstNews(book, limit),
            messages: [],
            hasMore: false,
          };
        }
        const [of, number = ''] = cursor.split('.');
        if (of !== epoch) throw new OperationError('conflict', 'This cursor is not of this account.');
        const news = newsAfter(book, numberOf(number), limit);
        if (news === null) return null;
        const { upTo, ...rest } = news;
        return { cursor: cursorAt(upTo), ...rest };
      });
      if (answer !== null) return answer;
      if (until.aborted) return { cursor: cursor ?? '', conversations: [], messages: [], hasMore: false };
      await changed;
    } finally {
      waiting.abort();
      await changed;
    }
  }
}
