// A messaging bridge that says what a test wants: by default the truth about a few conversations that it keeps in memory.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type {
  MessagingBridgeConversation,
  MessagingBridgeMessage,
  MessagingBridgeOperation,
  MessagingBridgeRequest,
} from '@platform/contract';

export const BRIDGE_TOKEN = 'token-of-the-bridge-0123456789abcdef';

export interface BridgeReply {
  readonly status: number;
  /** Sent as it is, or as JSON. */
  readonly body: unknown;
}

type Input = Record<string, never> & {
  readonly to: string;
  readonly address: string;
  readonly conversationId: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly timeoutMs: number;
  readonly transactionId: string;
  readonly message: { readonly body: string };
};

export interface BridgeCall extends Omit<MessagingBridgeRequest, 'input'> {
  readonly input: Input;
}

export interface BridgeDouble {
  readonly url: string;
  readonly calls: BridgeCall[];
  /** Instead of the truth; `'never'` answers nothing. */
  answer: (call: BridgeCall, truth: BridgeReply) => BridgeReply | 'never' | Promise<BridgeReply | 'never'>;
  /** Answers so what core asks for notifications, one question after the other. @param onTold called with the question after them */
  tell(replies: readonly BridgeReply[], onTold: (next: NoticesInput) => void): void;
  /** Brings a message from outside. */
  receive(conversationId: string, senderId: string, body: string): void;
  close(): Promise<void>;
}

export interface NoticesInput {
  readonly cursor?: string;
}

interface Kept {
  readonly owner: string;
  readonly conversation: MessagingBridgeConversation;
  readonly messages: MessagingBridgeMessage[];
}

const NOW = '2026-11-21T10:00:00.000Z';

export async function startBridgeDouble(): Promise<BridgeDouble> {
  const kept = new Map<string, Kept>();
  const transactions = new Map<string, MessagingBridgeMessage>();
  /** Every message in the order in which it came, for `sync`. */
  const all: MessagingBridgeMessage[] = [];
  const wakes = new Set<() => void>();
  const calls: BridgeCall[] = [];
  const replies: BridgeReply[] = [];
  let heldQuestion: ServerResponse | null = null;
  let onTold: (next: NoticesInput) => void = () => undefined;

  function add(one: Kept, senderId: string, body: string): MessagingBridgeMessage {
    const conversationId = one.conversation.id;
    const message = {
      id: `$event-${all.length + 1}`,
      conversationId,
      senderId,
      body,
      kind: 'text',
      sentAt: NOW,
    } as const;
    one.messages.unshift(message);
    all.push(message);
    for (const wake of wakes) wake();
    return message;
  }

  const success = (call: BridgeCall, result: unknown): BridgeReply => ({
    status: 200,
    body: { version: 1, userId: call.subject.transportUserId, provisioned: true, result },
  });
  const failure = (status: number, code: string): BridgeReply => ({
    status,
    body: { version: 1, error: { code, message: 'SECRET words of the bridge' } },
  });

  const truths: Record<MessagingBridgeOperation, (call: BridgeCall) => BridgeReply | Promise<BridgeReply>> = {
    identity: (call) => success(call, { identity: { transportUserId: call.subject.transportUserId } }),
    resolve: (call) =>
      success(call, {
        contact: call.input.address.includes('nobody') ? null : { transportUserId: call.input.address },
      }),
    conversations: (call) => success(call, { conversations: ofOwner(call), nextCursor: null }),
    direct(call) {
      const id = `!room-of-${call.subject.platformName}-and-${call.input.to.slice(1)}`;
      const former = kept.get(id);
      const conversation: MessagingBridgeConversation = former?.conversation ?? {
        id,
        encrypted: true,
        participants: [{ transportUserId: call.input.to }],
        state: 'open',
        unread: 0,
        createdAt: NOW,
        lastMessageAt: null,
      };
      if (former === undefined) kept.set(id, { owner: call.subject.accountId, conversation, messages: [] });
      return success(call, { conversation, created: former === undefined });
    },
    messages: (call) =>
      ofConversation(call, ({ messages }) =>
        success(call, { messages: messages.slice(0, call.input.limit), nextCursor: null }),
      ),
    send: (call) =>
      ofConversation(call, (one) => {
        const former = transactions.get(call.input.transactionId);
        const message = former ?? add(one, call.subject.transportUserId, call.input.message.body);
        transactions.set(call.input.transactionId, message);
        return success(call, { message });
      }),
    async sync(call) {
      const { cursor, timeoutMs, limit } = call.input;
      if (cursor === undefined)
        return success(call, {
          cursor: String(all.length),
          conversations: ofOwner(call),
          messages: [],
          hasMore: false,
        });
      const after = Number(cursor);
      if (all.length === after && timeoutMs > 0)
        await new Promise<void>((resolve) => {
          wakes.add(resolve);
          setTimeout(resolve, timeoutMs).unref();
        });
      const messages = all.slice(after, after + limit);
      const ids = new Set(messages.map(({ conversationId }) => conversationId));
      return success(call, {
        cursor: String(after + messages.length),
        conversations: ofOwner(call).filter(({ id }) => ids.has(id)),
        messages,
        hasMore: after + messages.length < all.length,
      });
    },
    accept: (call) => changed(call),
    decline: (call) => changed(call),
    leave: (call) => changed(call),
    block: (call) => changed(call),
    read: (call) => changed(call),
    forget: (call) => {
      for (const [id, { owner }] of kept) if (owner === call.subject.accountId) kept.delete(id);
      return success(call, {});
    },
  };

  function ofOwner({ subject }: BridgeCall): MessagingBridgeConversation[] {
    return [...kept.values()]
      .filter(({ owner }) => owner === subject.accountId)
      .map(({ conversation }) => conversation);
  }

  function ofConversation(call: BridgeCall, work: (one: Kept) => BridgeReply): BridgeReply {
    const one = kept.get(call.input.conversationId);
    return one === undefined || one.owner !== call.subject.accountId ? failure(404, 'not_found') : work(one);
  }

  function changed(call: BridgeCall): BridgeReply {
    return ofConversation(call, ({ conversation }) => success(call, { conversation }));
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${BRIDGE_TOKEN}`) {
      response.writeHead(401).end();
      return;
    }
    const call = JSON.parse(await text(request)) as BridgeCall;
    if ((call.operation as string) === 'notices') {
      serveNotices(call.input, response);
      return;
    }
    calls.push(call);
    const reply = await double.answer(call, await truths[call.operation](call));
    if (reply === 'never') return;
    respond(response, reply);
  }

  function respond(response: ServerResponse, { status, body }: BridgeReply): void {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(raw);
  }

  /** Answers what `tell` has; a question after that waits for more. */
  function serveNotices(input: NoticesInput, response: ServerResponse): void {
    const reply = replies.shift();
    if (reply !== undefined) respond(response, reply);
    else {
      heldQuestion = response;
      onTold(input);
      onTold = () => undefined;
    }
  }

  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const double: BridgeDouble = {
    url: `http://127.0.0.1:${port}`,
    calls,
    answer: (_, truth) => truth,
    tell(given, then) {
      replies.push(...given);
      onTold = then;
      const held = heldQuestion;
      heldQuestion = null;
      const reply = held === null ? undefined : replies.shift();
      if (held !== null && reply !== undefined) respond(held, reply);
    },
    receive(conversationId, senderId, body) {
      const one = kept.get(conversationId);
      if (one !== undefined) add(one, senderId, body);
    },
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
  return double;
}
