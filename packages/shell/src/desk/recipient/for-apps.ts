// What apps may do with the recipient of the person: nothing of it asks, and nothing of it gives a key away.
import type { RecipientState } from '@platform/contract';
import { BridgeRefusal } from '../../apps/bridge/refusal.ts';
import { session } from '../../session/session.ts';
import { bytesOf, textOf } from './base64url.ts';
import { type Here, readHere } from './here.ts';
import { keptKey } from './kept-keys.ts';
import { openText, readSealed, sealText } from './sealed-text.ts';

/** For so long a page seals without asking core again. */
const FRESH_MS = 30_000;

let known: { readonly account: string; readonly at: number; readonly here: Here } | null = null;

/** After a change that this page made. */
export function forgetHere(): void {
  known = null;
}

function accountName(): string {
  const { value } = session;
  if (value.kind !== 'signed-in') throw new BridgeRefusal('unauthenticated', 'Nobody is signed in.');
  return value.account.name;
}

async function hereNow(account: string): Promise<Here> {
  const here = await readHere(account);
  known = { account, at: performance.now(), here };
  return here;
}

async function ready(account: string): Promise<Here> {
  if (known?.account === account && known.here.state === 'ready' && performance.now() - known.at < FRESH_MS)
    return known.here;
  return hereNow(account);
}

const WHAT_TO_DO: Readonly<Record<Exclude<RecipientState, 'ready'>, string>> = {
  locked:
    'This browser has not opened what apps encrypt for you yet. Sign in again with a passkey that opens it, or unlock it in Settings → Passkeys.',
  none: 'Apps cannot encrypt for you yet. Sign in again with your passkey, or turn it on in Settings → Passkeys.',
  unsupported:
    'The passkey you signed in with cannot open what apps encrypt. Settings → Passkeys says which can, and lets you add one.',
  'migrates-at-sign-in': 'What apps encrypt for you opens after you sign out and sign in again, once.',
};

function refuseUnready(state: Exclude<RecipientState, 'ready'>): BridgeRefusal {
  return new BridgeRefusal('unavailable', WHAT_TO_DO[state]);
}

function requireBytes(text: string, name: string): Uint8Array {
  const bytes = bytesOf(text);
  if (bytes === null) throw new BridgeRefusal('invalid_request', `\`${name}\` must be base64url without padding.`);
  return bytes;
}

export async function status(): Promise<{ readonly state: RecipientState }> {
  return { state: (await hereNow(accountName())).state };
}

/** @throws BridgeRefusal `unavailable` with what the person can do; ApiError */
export async function seal(appId: string, plaintext: string): Promise<{ readonly sealed: string }> {
  const bytes = requireBytes(plaintext, 'plaintext');
  const { state, key } = await ready(accountName());
  if (state !== 'ready' || key === null) throw refuseUnready(state === 'ready' ? 'locked' : state);
  return { sealed: await sealText(key, appId, bytes) };
}

/** @throws BridgeRefusal `unavailable` as above, `invalid_request`, `not_found`; ApiError */
export async function open(appId: string, sealed: string): Promise<{ readonly plaintext: string }> {
  const account = accountName();
  const read = readSealed(sealed);
  if (read === null) throw new BridgeRefusal('invalid_request', '`sealed` is no result of `recipient.seal`.');
  // Without core: what this browser has opened once, it opens without a connection.
  const key = (await keptKey(account, read.keyId)) ?? (await keyAfterSignIn(account, read.keyId));
  const plaintext = await openText(key, appId, read);
  if (plaintext === null)
    throw new BridgeRefusal('invalid_request', 'This was sealed by another app, or was changed since.');
  return { plaintext: textOf(plaintext) };
}

async function keyAfterSignIn(account: string, keyId: string) {
  const { state } = await hereNow(account);
  const key = await keptKey(account, keyId);
  if (key !== null) return key;
  if (state !== 'ready') throw refuseUnready(state);
  throw new BridgeRefusal(
    'not_found',
    'This was sealed for another person, or before you started anew: the key that opens it is not in this browser.',
  );
}
