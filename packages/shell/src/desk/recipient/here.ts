// The recipient of the account in this browser: what state it is in, and its key.
import type { Recipient, RecipientState } from '@platform/contract';
import { takePrf, wipePrf } from '../../session/prf.ts';
import { keptKey } from './kept-keys.ts';
import type { RecipientKey } from './recipient-key.ts';
import { keyIdOf } from './sealed-text.ts';
import { readRecipient, unlock } from './unlock.ts';

/** The account whose last sign-in here was with a passkey, or in a browser, that can make no recipient. */
const WITHOUT = 'platform.recipient.without';

export interface Here {
  readonly state: RecipientState;
  /** With `ready`. */
  readonly key: RecipientKey | null;
  readonly recipient: Recipient | null;
}

/** Of the sign-in of this page; what asks for the state waits for it. */
let unlocking: Promise<void> = Promise.resolve();

/**
 * Uses what the ceremony before gave, once, and forgets it.
 *
 * @returns whether this passkey or this browser cannot do what apps may want of it, which was not known before
 */
export async function useSignIn(account: string): Promise<boolean> {
  const prf = takePrf();
  if (prf === null) {
    await unlocking;
    return false;
  }
  let isNews = false;
  const work = async () => {
    try {
      const isOpen = await unlock(account, prf);
      const cannot = !isOpen && !prf.hasPrf;
      isNews = cannot && localStorage.getItem(WITHOUT) !== account;
      note(account, cannot);
    } catch (error) {
      // WebCrypto of an older browser.
      const cannot = error instanceof DOMException && error.name === 'NotSupportedError';
      isNews = cannot && localStorage.getItem(WITHOUT) !== account;
      if (cannot) note(account, true);
      else console.warn('What apps encrypt could not be opened at this sign-in.', error);
    } finally {
      wipePrf(prf);
    }
  };
  unlocking = unlocking.then(work);
  await unlocking;
  return isNews;
}

function note(account: string, cannot: boolean): void {
  if (cannot) localStorage.setItem(WITHOUT, account);
  else localStorage.removeItem(WITHOUT);
}

/** @throws ApiError */
export async function readHere(account: string): Promise<Here> {
  await useSignIn(account);
  const recipient = await readRecipient();
  if (recipient === null) {
    const cannot = localStorage.getItem(WITHOUT) === account;
    return { state: cannot ? 'unsupported' : 'none', key: null, recipient };
  }
  const key = await keptKey(account, await keyIdOf(recipient.publicKey));
  if (key !== null) return { state: 'ready', key, recipient };
  const isOlder = recipient.wrappings.length > 0 && recipient.wrappings.every(({ salt }) => salt === 'older');
  return { state: isOlder ? 'migrates-at-sign-in' : 'locked', key: null, recipient };
}
