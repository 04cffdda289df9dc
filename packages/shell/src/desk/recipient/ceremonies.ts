// What the person does about the recipient with their passkeys, at a press in Settings: unlock it here, let another passkey open it,
// start anew. No app begins any of these.
import type { CeremonyOptions, PasskeyConfirmation } from '@platform/contract';
import { call } from '../../api/client.ts';
import { askForPasskey, PasskeyError } from '../../session/passkey.ts';
import { type HeldPrf, takePrf, wipePrf } from '../../session/prf.ts';
import { forgetHere } from './for-apps.ts';
import { newOpenKey, passkeyIdOf, wipe } from './recipient-key.ts';
import { alone, keepOpened, onCurrent, openWith, readRecipient, unlock, withWrapping, wrappingOf } from './unlock.ts';

const NO_PRF =
  'This passkey can’t open what apps encrypt: its device or password manager lacks what that needs. Use another passkey.';
const NOT_OPENED = 'This passkey doesn’t open what apps encrypt for you. Use one that is marked so in the list.';

/** Asks for one of these passkeys, or for any of the account. What core would accept of it is not sent, unless it acts. */
async function ask(among: ReadonlySet<string> | null): Promise<{ confirmation: PasskeyConfirmation; prf: HeldPrf }> {
  const options = await call('auth.confirm.options', { body: { operation: 'recipient.replace' } });
  const confirmation = await askForPasskey(among === null ? options : await narrowed(options, among));
  const prf = takePrf();
  if (prf === null || prf.first === null) throw new PasskeyError(NO_PRF);
  return { confirmation, prf };
}

async function narrowed(
  { challengeId, publicKey }: CeremonyOptions,
  ids: ReadonlySet<string>,
): Promise<CeremonyOptions> {
  const { allowCredentials = [] } = publicKey as { allowCredentials?: readonly { readonly id: string }[] };
  const named = await Promise.all(allowCredentials.map(async (each) => ({ each, id: await passkeyIdOf(each.id) })));
  const wanted = named.filter(({ id }) => ids.has(id)).map(({ each }) => each);
  return { challengeId, publicKey: { ...publicKey, allowCredentials: wanted } };
}

async function openers(): Promise<ReadonlySet<string> | null> {
  const recipient = await readRecipient();
  if (recipient === null) return null;
  if (recipient.wrappings.length === 0) throw new PasskeyError('No passkey opens what apps encrypted. Start anew.');
  return new Set(recipient.wrappings.map(({ passkeyId }) => passkeyId));
}

/** Opens the recipient in this browser, or makes the first one. @throws PasskeyError or ApiError */
export async function unlockHere(account: string): Promise<void> {
  const { prf } = await ask(await openers());
  try {
    if (!(await unlock(account, prf))) throw new PasskeyError(NOT_OPENED);
  } finally {
    wipePrf(prf);
    forgetHere();
  }
}

/** What a passkey gave that opens the recipient. To be wiped. @throws PasskeyError or ApiError */
export async function askForOpener(): Promise<HeldPrf> {
  return (await ask(await openers())).prf;
}

/** What this passkey of the account gives. To be wiped. @throws PasskeyError or ApiError */
export async function askFor(passkeyId: string): Promise<HeldPrf> {
  return (await ask(new Set([passkeyId]))).prf;
}

/**
 * Wraps the recipient for the passkey that gave `fresh`, with one that opens it; wipes neither.
 *
 * @throws PasskeyError or ApiError
 */
export function wrapFor(account: string, opener: HeldPrf, fresh: HeldPrf): Promise<void> {
  return alone(() =>
    onCurrent(async (recipient) => {
      if (recipient === null) throw new PasskeyError('There is nothing yet that a passkey would open.');
      const key = await openWith(recipient, opener);
      if (key === null) throw new PasskeyError(NOT_OPENED);
      try {
        await keepOpened(account, key);
        const wrappings = withWrapping(recipient, await wrappingOf(key, fresh));
        const { publicKey, version } = recipient;
        await call('recipient.put', { body: { ifVersion: version, publicKey, wrappings } });
      } finally {
        wipe(key);
      }
    }),
  ).finally(forgetHere);
}

/** Another key in place of the one that no passkey opens any more. @throws PasskeyError or ApiError */
export async function startAnew(account: string): Promise<void> {
  const { confirmation, prf } = await ask(null);
  const key = await newOpenKey();
  try {
    await alone(async () => {
      const { version = 0 } = (await readRecipient()) ?? {};
      const wrappings = [await wrappingOf(key, prf)];
      await call('recipient.put', { body: { ifVersion: version, publicKey: key.publicKey, wrappings, confirmation } });
      await keepOpened(account, key);
    });
  } finally {
    wipe(key);
    wipePrf(prf);
    forgetHere();
  }
}
