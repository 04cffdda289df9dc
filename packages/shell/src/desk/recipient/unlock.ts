// Opens the recipient of the account with what a ceremony gave, makes it where there is none, and wraps it anew where it is still
// sealed under the older salt. Asks nothing: whoever wants a ceremony begins one (ceremonies.ts).
import type { Recipient, RecipientWrapping } from '@platform/contract';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import type { HeldPrf } from '../../session/prf.ts';
import { keepKey, keptKey } from './kept-keys.ts';
import { newOpenKey, type OpenKey, passkeyIdOf, sealedIn, unwrap, wipe, wrap } from './recipient-key.ts';
import { keyIdOf } from './sealed-text.ts';

/** Another tab or device changed it: so often is it read again. */
const ATTEMPTS = 4;

export async function readRecipient(): Promise<Recipient | null> {
  return (await call('recipient.read')).recipient;
}

/** Changes of the tabs of this browser come one after the other. */
export function alone<Result>(work: () => Promise<Result>): Promise<Result> {
  return navigator.locks.request('platform.recipient', work);
}

/**
 * With the recipient as it is, and again where it was changed meanwhile.
 *
 * @throws ApiError, also when it changes each time
 */
export async function onCurrent<Result>(work: (recipient: Recipient | null) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(await readRecipient());
    } catch (error) {
      const isChanged = error instanceof ApiError && error.code === 'recipient_conflict';
      if (!isChanged || attempt === ATTEMPTS) throw error;
    }
  }
}

/** What a passkey wraps with from now on. */
export async function wrappingOf(key: OpenKey, prf: HeldPrf): Promise<RecipientWrapping> {
  if (prf.first === null) throw new Error('A passkey without a result wraps nothing.');
  const passkeyId = await passkeyIdOf(prf.credentialId);
  return { passkeyId, salt: 'rp', sealed: await wrap(key, { passkeyId, result: prf.first }) };
}

/** The wrappings with this one in place of that of the same passkey. */
export function withWrapping(recipient: Recipient, wrapping: RecipientWrapping): RecipientWrapping[] {
  return [...recipient.wrappings.filter(({ passkeyId }) => passkeyId !== wrapping.passkeyId), wrapping];
}

/** The private key, with the passkey that gave this; `null` where it does not open it. To be wiped. */
export async function openWith(recipient: Recipient, prf: HeldPrf): Promise<OpenKey | null> {
  const passkeyId = await passkeyIdOf(prf.credentialId);
  const own = recipient.wrappings.find((wrapping) => wrapping.passkeyId === passkeyId);
  const result = own?.salt === 'older' ? prf.second : prf.first;
  if (own === undefined || result === null) return null;
  return unwrap(own.sealed, { passkeyId, result }, recipient.publicKey);
}

/** Keeps it in this browser. */
export async function keepOpened(account: string, key: OpenKey): Promise<void> {
  await keepKey(account, await sealedIn(key));
}

/** @returns whether this browser opens it now. @throws ApiError; DOMException in a browser without X25519 */
export function unlock(account: string, prf: HeldPrf): Promise<boolean> {
  return alone(() =>
    onCurrent(async (recipient) => (recipient === null ? make(account, prf) : open(account, recipient, prf))),
  );
}

async function make(account: string, prf: HeldPrf): Promise<boolean> {
  if (prf.first === null) return false;
  const key = await newOpenKey();
  try {
    const wrappings = [await wrappingOf(key, prf)];
    await call('recipient.put', { body: { ifVersion: 0, publicKey: key.publicKey, wrappings } });
    await keepOpened(account, key);
    return true;
  } finally {
    wipe(key);
  }
}

async function open(account: string, recipient: Recipient, prf: HeldPrf): Promise<boolean> {
  const { publicKey, version } = recipient;
  const key = await openWith(recipient, prf);
  if (key === null) return (await keptKey(account, await keyIdOf(publicKey))) !== null;
  try {
    await keepOpened(account, key);
    const wrapping = prf.first === null ? null : await wrappingOf(key, prf);
    const former = recipient.wrappings.find(({ passkeyId }) => passkeyId === wrapping?.passkeyId);
    if (wrapping !== null && former?.salt === 'older') {
      const wrappings = withWrapping(recipient, wrapping);
      await call('recipient.put', { body: { ifVersion: version, publicKey, wrappings } });
    }
    return true;
  } finally {
    wipe(key);
  }
}
