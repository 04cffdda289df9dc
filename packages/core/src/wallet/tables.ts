// The wallet: the ledger, what apps propose, receipts, and limits.
import type { NotificationId, PolicyId, ReceiptId, WalletEntryId, WalletProposalId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { Json, OwnedTables } from '../database/schema.ts';
import type { WalletEvent } from './notices.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    wallet_accounts: {
      id: string;
      account_key: string | null;
      currency: string;
      decimals: number;
      issuer: Generated<boolean>;
      balance: Bigint;
      entries: Bigint;
      head: Buffer;
    };
    wallet_entries: {
      account_id: string;
      number: Bigint;
      id: WalletEntryId;
      transfer: string;
      kind: string;
      at: Date;
      amount: Bigint;
      balance: Bigint;
      counterparty_id: string;
      counterparty: string | null;
      reference: string | null;
      app_id: string | null;
      receipt_id: ReceiptId | null;
      operation_hash: Buffer | null;
      assertion_hash: Buffer | null;
      policies_hash: Buffer | null;
      previous: Buffer;
      hash: Buffer;
    };
    wallet_proposals: {
      id: WalletProposalId;
      account_key: string;
      installation_id: string;
      app_id: string;
      kind: 'payment' | 'policy';
      /** Of one that nobody decided on in time `pending`. */
      state: 'pending' | 'executed' | 'declined' | 'failed';
      operation: string;
      operation_hash: Buffer;
      recipient_key: string | null;
      recipients: string | null;
      target: string | null;
      idempotency_key: string;
      request_hash: Buffer;
      created_at: Date;
      expires_at: Date;
      receipt_id: ReceiptId | null;
      receipt_at: Date | null;
    };
    wallet_receipts: {
      id: ReceiptId;
      at: Date;
      account_key: string | null;
      payee_key: string | null;
      operation: string;
      operation_hash: Buffer;
      assertion: string;
      assertion_hash: Buffer;
      policies: string;
    };
    wallet_policies: {
      id: PolicyId;
      account_key: string;
      name: string;
      currency: string;
      per_payment: Bigint;
      per_day: string | null;
      per_month: string | null;
      root: Buffer;
      leaves: Buffer[];
      app_ids: string[] | null;
      expires_at: Date | null;
      created_at: Date;
    };
    /** Of approvals: what they are checked with, though the passkey is gone. */
    wallet_keys: { signer: string; credential_id: string; public_key: Buffer; first_used_at: Date };
    wallet_currencies: { code: string; decimals: number };
    wallet_policy_uses: { policy_id: PolicyId; receipt_id: ReceiptId; at: Date; amount: Bigint };
    wallet_notices: {
      id: NotificationId;
      account_key: string;
      event: Json<WalletEvent>;
      occurred_at: Date;
      due_at: Date;
      attempts: Generated<number>;
    };
  }
}

export const tables = {
  wallet_accounts: {},
  wallet_entries: {},
  wallet_proposals: {},
  wallet_receipts: {},
  wallet_policies: {},
  wallet_policy_uses: {},
  wallet_keys: {},
  wallet_currencies: {},
  wallet_notices: {},
} satisfies OwnedTables;
