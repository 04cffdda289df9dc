// Whether an export of a wallet is what its owner approved, from the file alone: chain, receipts, and every assertion by its public key.
import { receipt } from '@platform/contract';
import * as z from 'zod';
import { ChainCheck, checkPayment, checkReceipt } from './check-books.ts';
import { type KnownKey, keysByPasskey } from './known-keys.ts';
import type { Finding } from './rail.ts';

const entry = z.strictObject({
  account: z.string(),
  number: z.int(),
  id: z.string(),
  transfer: z.string(),
  kind: z.enum(['payment', 'credit', 'return']),
  at: z.string(),
  currency: z.string(),
  amount: z.string().regex(/^-?\d{1,18}$/),
  balance: z.string().regex(/^-?\d{1,18}$/),
  counterpartyAccount: z.string(),
  counterparty: z.string().nullable(),
  reference: z.string().nullable(),
  appId: z.string().nullable(),
  receiptId: z.string().nullable(),
  operationHash: z.string().nullable(),
  assertionHash: z.string().nullable(),
  policiesHash: z.string().nullable(),
  previous: z.string(),
  hash: z.string(),
});

/** What `GET /v1/wallet/export?format=json` answers. */
export const walletExport = z.strictObject({
  type: z.literal('platform.wallet.export.v1'),
  /** Of the shell, where passkeys are used: of receipts that name no other place. */
  origin: z.string(),
  rpId: z.string(),
  /** The address of the account. */
  account: z.string(),
  exportedAt: z.string(),
  sides: z.array(
    z.strictObject({
      account: z.string(),
      currency: z.string(),
      decimals: z.int(),
      balance: z.string(),
      entries: z.int(),
      head: z.string(),
    }),
  ),
  /** By side, oldest first. */
  entries: z.array(entry),
  receipts: z.array(receipt),
  /** Of whoever approved something here, passkeys that were removed included. */
  keys: z.array(
    z.strictObject({
      /** An address. */
      account: z.string(),
      credentialId: z.string(),
      /** COSE, base64url. */
      publicKey: z.string(),
      firstUsedAt: z.string(),
    }),
  ),
});
export type WalletExport = z.infer<typeof walletExport>;

/**
 * @param given what the file holds, parsed
 * @param trusted public keys from elsewhere; then every passkey of the account must be among them. The file by itself cannot show that
 *   somebody exchanged a key, made every signature of it anew and every hash after it.
 */
export async function* verifyExport(
  given: unknown,
  trusted: readonly KnownKey[] | null = null,
): AsyncGenerator<Finding> {
  const read = walletExport.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    yield { of: issue?.path.join('.') || 'the file', what: `is not what an export has there: ${issue?.message ?? ''}` };
    return;
  }
  const { origin, rpId, account, sides, entries, receipts, keys } = read.data;
  const known = new Map(receipts.map((one) => [one.id as string, one]));
  if (known.size !== receipts.length) yield { of: account, what: 'a receipt is there twice' };
  const byPasskey = keysByPasskey(keys);
  for (const { account: signer, credentialId, publicKey } of keys) {
    if (byPasskey.get(signer)?.get(credentialId) !== publicKey)
      yield { of: credentialId, what: `has two public keys as a passkey of ${signer}` };
    const trustedKey = trusted?.find((one) => one.credentialId === credentialId);
    if (trustedKey === undefined && trusted !== null && signer === account)
      yield { of: credentialId, what: `is a passkey of ${signer} that is not among the public keys given` };
    if (trustedKey !== undefined && (trustedKey.publicKey !== publicKey || (trustedKey.account ?? signer) !== signer))
      yield { of: credentialId, what: `is not the passkey of ${signer} that was given` };
  }
  const used = new Map<string, number>();
  const places = new Set(sides.map((side) => side.account));
  for (const { id, account: place } of entries)
    if (!places.has(place)) yield { of: id, what: 'is of a side of the ledger that is not there' };
  for (const { decimals: _, ...side } of sides) {
    const chain = new ChainCheck(side, { isIssuer: false });
    for (const one of entries.filter(({ account: place }) => place === side.account)) {
      yield* chain.add(one);
      if (one.kind !== 'payment') continue;
      const behind = known.get(one.receiptId ?? '');
      used.set(one.receiptId ?? '', (used.get(one.receiptId ?? '') ?? 0) + 1);
      yield* checkPayment(one, behind, true);
      if (behind !== undefined && !isOwn(behind.operation, account, one.amount))
        yield { of: one.id, what: 'was not approved by this account, nor paid to it' };
    }
    yield* chain.end();
  }
  for (const one of receipts) {
    yield* checkReceipt(one, {
      place: { origin, rpId },
      keyOf: (signer, credentialId) => byPasskey.get(signer)?.get(credentialId),
      receiptOf: (id) => known.get(id),
    });
    const { id, operation } = one;
    const uses = used.get(id) ?? 0;
    if (uses !== (operation.type === 'platform.wallet.payment.v1' ? 1 : 0))
      yield { of: id, what: `stands behind ${uses} entries` };
    if (operation.type === 'platform.wallet.policy.v1' && operation.account !== account)
      yield { of: id, what: 'is of another account' };
  }
}

function isOwn(operation: z.infer<typeof receipt>['operation'], account: string, amount: string): boolean {
  if (operation.type !== 'platform.wallet.payment.v1') return false;
  return account === (amount.startsWith('-') ? operation.from : operation.to);
}
