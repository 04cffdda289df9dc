// What carries messages. Core knows people, conversations and messages by the names of the transport; apps never see those.
import type {
  ConversationState,
  InstallationId,
  MessagingContact,
  MessagingIdentity,
  MessagingTransport,
} from '@platform/contract';

/** Who acts: an app, for the account that it is installed for. */
export interface Acting {
  readonly accountKey: string;
  readonly installationId: InstallationId;
}

export interface TransportConversation {
  /** A UUID. */
  readonly id: string;
  readonly transport: MessagingTransport;
  readonly other: { readonly address: string; readonly transportUserId?: string };
  readonly state: ConversationState;
  readonly unread: number;
  readonly createdAt: Date;
  readonly lastMessageAt: Date | null;
}

export interface TransportMessage {
  /** A UUID. */
  readonly id: string;
  readonly conversationId: string;
  readonly senderAddress: string;
  readonly body: string;
  readonly kind: 'text' | 'unsupported';
  readonly sentAt: Date;
}

export interface TransportPage<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; `null` after the last. */
  readonly next: unknown;
}

export interface PageAt {
  readonly limit: number;
  /** `next` of the page before. */
  readonly at: unknown;
}

export interface News {
  /** Where the next call begins. */
  readonly position: number;
  readonly conversations: readonly TransportConversation[];
  readonly messages: readonly TransportMessage[];
  readonly hasMore: boolean;
}

export type ConversationAct = 'accept' | 'decline' | 'leave' | 'block';

/** Each throws RefusalError `not_found` for what is not the account's, and `conversation_conflict` as contract 4f says. */
export interface Transport {
  identity(accountKey: string): Promise<MessagingIdentity>;
  /** `null` for nobody. */
  resolve(address: string): Promise<MessagingContact | null>;
  conversations(accountKey: string, page: PageAt): Promise<TransportPage<TransportConversation>>;
  /** `undefined` for one that the account does not have. */
  find(accountKey: string, conversationId: string): Promise<TransportConversation | undefined>;
  direct(
    accountKey: string,
    to: string,
  ): Promise<{ readonly conversation: TransportConversation; readonly created: boolean }>;
  act(accountKey: string, conversationId: string, act: ConversationAct): Promise<TransportConversation>;
  markRead(accountKey: string, conversationId: string, messageId: string): Promise<TransportConversation>;
  messages(accountKey: string, conversationId: string, page: PageAt): Promise<TransportPage<TransportMessage>>;
  send(
    acting: Acting,
    sending: { readonly conversationId: string; readonly transactionId: string; readonly body: string },
  ): Promise<{ readonly message: TransportMessage; readonly created: boolean }>;
  /** The newest conversations, and where news begin. */
  begin(accountKey: string): Promise<News>;
  /** What there is after a position; at once. @throws RefusalError `invalid_cursor` for one that is yet to come */
  news(accountKey: string, position: number, limit: number): Promise<News>;
}
