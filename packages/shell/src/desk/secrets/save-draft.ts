// Carries out what a person decided about a slot.
import { call } from '../../api/client.ts';
import { confirmedIfNeeded } from '../../session/confirm.ts';
import { type Draft, injectionOf, NEW, nameOf } from './draft.ts';

/**
 * Adds the secret where it is a new one, and binds it to what was shown; with the passkey where it was not sent there before.
 *
 * @throws PasskeyError or ApiError
 */
export async function saveDraft(
  appId: string,
  { name, declarationHash }: { readonly name: string; readonly declarationHash: string },
  draft: Draft,
): Promise<void> {
  if (draft.secret === '') return;
  const secret = draft.secret === NEW ? nameOf(draft.newName) : draft.secret;
  if (draft.secret === NEW)
    await call('secrets.put', { params: { name: secret }, body: { value: draft.newValue.trim() } });
  const bound = { secret, declarationHash, inject: injectionOf(draft) };
  await confirmedIfNeeded(
    (confirmation) =>
      call('apps.secretBindings.bind', { params: { appId, slot: name }, body: { ...bound, confirmation } }),
    'secret.bind',
    secret,
  );
}
