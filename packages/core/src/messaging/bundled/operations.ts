// What apps have done to conversations of the bundled transport, and what comes of it.
import { type InstallationId, refuse } from '@platform/contract';
import type { Pair } from './queries.ts';

export type Operation = { readonly accountKey: string } & (
  | { readonly do: 'open'; readonly otherKey: string }
  | { readonly do: 'accept' | 'decline' | 'leave' | 'block'; readonly conversationId: string }
  | { readonly do: 'read'; readonly conversationId: string; readonly messageId: string }
  | Sending
);

export interface Sending {
  readonly do: 'send';
  readonly conversationId: string;
  readonly installationId: InstallationId;
  readonly transactionId: string;
  readonly body: string;
}

export interface Changed {
  readonly conversationId: string;
  /** Of `open`: it is new. Of `send`: it was not sent before. */
  readonly created: boolean;
  /** Of `send`. */
  readonly message?: { readonly id: string; readonly body: string; readonly sentAt: Date };
}

/** @throws RefusalError `invalid_request` for oneself */
export function pairOf(one: string, other: string): Pair {
  if (one === other) throw refuse('invalid_request', 'You cannot write to yourself.');
  return one < other ? { lowKey: one, highKey: other } : { lowKey: other, highKey: one };
}
