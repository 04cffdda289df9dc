// Changes the recipient of an account on the condition that nobody did meanwhile. What is in the wrappings only the shell
// can tell; core sees to whose they are, and that none gets lost by the way.
import { type Recipient, type RouteBody, refuse } from '@platform/contract';
import { type Confirming, confirmedUnless, passkeysOf, publicId } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { selectRecipient, writeRecipient } from './queries.ts';

type Wanted = RouteBody<'recipient.put'>;

/**
 * @throws RefusalError `recipient_conflict`; `invalid_request` for a wrapping of a passkey that the account does not have, or
 *   without that of one that has one, and for another public key or another wrapping without a confirmation; as `confirmed`
 */
export function putRecipient(
  context: CoreContext,
  { caller, refused }: Pick<Confirming, 'caller' | 'refused'>,
  { confirmation, ...wanted }: Wanted,
): Promise<Recipient> {
  const { accountKey } = caller;
  // A passkey that is being removed goes before this or after it, and takes its wrapping along.
  const confirming = { caller, refused, confirmation, operation: 'recipient.replace', locksAccount: true } as const;
  return confirmedUnless(context, confirming, async (trx, require) => {
    const former = await selectRecipient(trx, accountKey);
    if ((former?.version ?? 0) !== wanted.ifVersion) throw refuse('recipient_conflict');
    const isReplaced = former !== null && former.publicKey !== wanted.publicKey;
    if (isReplaced || (former !== null && isRewrapped(former, wanted))) require();
    const own = new Set((await passkeysOf(trx, accountKey)).map(({ id }) => publicId(id)));
    requireWrappings(wanted, own, isReplaced ? null : former);
    const { publicKey, wrappings } = wanted;
    const recipient = { version: wanted.ifVersion + 1, publicKey, wrappings };
    await writeRecipient(trx, accountKey, recipient);
    if (isReplaced) await context.lifecycle.securityEvent(trx, caller, { kind: 'recipient-replaced' });
    return (await selectRecipient(trx, accountKey)) ?? recipient;
  });
}

/** @param former with the same public key, if there is one. @throws RefusalError `invalid_request` */
function requireWrappings({ wrappings }: Wanted, own: ReadonlySet<string>, former: Recipient | null): void {
  const strange = wrappings.findIndex(({ passkeyId }) => !own.has(passkeyId));
  if (strange >= 0) throw wrong(`wrappings.${strange}.passkeyId`, 'is no passkey of this account');
  const named = new Set(wrappings.map(({ passkeyId }) => passkeyId));
  // With the same key, each passkey that opens it goes on opening it: a session alone takes that from none.
  if (former?.wrappings.some(({ passkeyId }) => !named.has(passkeyId)))
    throw wrong('wrappings', 'must have one for each passkey that has one');
}

/**
 * Whether a wrapping is another than before. Bytes that open nothing would lock its person out on every further device, and core
 * cannot tell them from others. The one that is wrapped anew after the older salt is the exception: no ceremony confirms that.
 */
function isRewrapped(former: Recipient, { wrappings }: Wanted): boolean {
  return wrappings.some(({ passkeyId, salt, sealed }) => {
    const before = former.wrappings.find((wrapping) => wrapping.passkeyId === passkeyId);
    if (before === undefined || (before.salt === 'older' && salt === 'rp')) return false;
    return before.salt !== salt || before.sealed !== sealed;
  });
}

function wrong(path: string, message: string) {
  return refuse('invalid_request', `\`${path}\` ${message}.`, { errors: [{ path, message }] });
}
