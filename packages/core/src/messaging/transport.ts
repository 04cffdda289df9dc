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
  /** A UUID, or what the bridge calls it (`bridgeIdOf`). */
  readonly id: string;
  readonly transport: MessagingTransport;
  /** Everybody but the account: mostly one. */
  readonly others: readonly { readonly address: string; readonly transportUserId?: string }[];
  readonly state: ConversationState;
  readonly unread: number;
  readonly createdAt: Date;
  readonly lastMessageAt: Date | null;
}

export interface TransportMessage {
  /** A UUID, or what the bridge calls it (`bridgeIdOf`). */
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

/** Up to where was read: as the transport says it, or that of the bundled one and that of the bridge. */
export type Position = number | { readonly bundled: number; readonly bridge: string | null };

export interface News {
  /** Where the next call begins. */
  readonly position: Position;
  readonly conversations: readonly TransportConversation[];
  readonly messages: readonly TransportMessage[];
  readonly hasMore: boolean;
}

export type ConversationAct = 'accept' | 'decline' | 'leave' | 'block';

/** Each throws RefusalError `not_found` for what is not the account's, and `conversation_conflict` as contract 4f says. */
export interface Transport {
  identity(accountKey: string): Promise<MessagingIdentity>;
  /** `null` for nobody. */
  resolve(accountKey: string, address: string): Promise<MessagingContact | null>;
  conversations(accountKey: string, page: PageAt): Promise<TransportPage<TransportConversation>>;
  /** `undefined` for one that the account does not have. */
  find(accountKey: string, conversationId: string): Promise<TransportConversation | undefined>;
  direct(
    accountKey: string,
    to: string,
  ): Promise<{ readonly conversation: TransportConversation; readonly created: boolean }>;
  act(accountKey: string, conversationId: string, act: ConversationAct): Promise<TransportConversation>;
  markRead(accountKey: string, conversationId: string, messageId: string): Promise<TransportConversation>;
  /** @param left of the caller, who then takes a turn of the account; without one it is read at once */
  messages(
    accountKey: string,
    conversationId: string,
    page: PageAt,
    left?: AbortSignal,
  ): Promise<TransportPage<TransportMessage>>;
  send(
    acting: Acting,
    sending: { readonly conversationId: string; readonly transactionId: string; readonly body: string },
  ): Promise<{ readonly message: TransportMessage; readonly created: boolean }>;
  /** The newest conversations, and where news begin. */
  begin(accountKey: string, limit: number): Promise<News>;
  /**
   * What there is after a position; at once.
   *
   * @param left as of `messages`
   * @throws RefusalError `invalid_cursor` for one that is yet to come
   */
  news(accountKey: string, position: Position, limit: number, left?: AbortSignal): Promise<News>;
  /** Waits for what comes after a position. */
  follow(accountKey: string, position: Position, waiting: FollowOptions): Following;
}

export interface FollowOptions {
  readonly limit: number;
  readonly milliseconds: number;
  readonly left: AbortSignal;
}

export interface Following {
  /** Calls it when there may be news without a signal of core. */
  onNews(wake: () => void): void;
  /** What there is by now. @throws as `news` */
  read(): Promise<News>;
  /** Nobody waits any more. */
  end(): void;
}
