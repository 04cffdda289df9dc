// The passkey once more, for one operation: its answer is part of the request that does it.
import type { ConfirmedOperation, PasskeyConfirmation } from '@platform/contract';
import { ApiError } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { askForPasskey } from './passkey.ts';

/**
 * @param subject what it is about, for operations that are about one thing
 * @throws PasskeyError or ApiError
 */
export async function confirmWithPasskey(operation: ConfirmedOperation, subject?: string) {
  return askForPasskey(await call('auth.confirm.options', { body: { operation, subject } }));
}

/**
 * Sends a request that needs the passkey under some circumstances: where core wants it, asks for it and sends the request again.
 *
 * @throws PasskeyError or ApiError
 */
export async function confirmedIfNeeded<Answer>(
  send: (confirmation?: PasskeyConfirmation) => Promise<Answer>,
  operation: ConfirmedOperation,
  subject?: string,
): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiError && error.fields.some(({ path }) => path === 'confirmation'))) throw error;
  }
  return send(await confirmWithPasskey(operation, subject));
}
