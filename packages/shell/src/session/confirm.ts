// The passkey once more, for one operation: its answer is part of the request that does it.
import type { ConfirmedOperation } from '@platform/contract';
import { call } from '../api/client.ts';
import { askForPasskey } from './passkey.ts';

/** @throws PasskeyError or ApiError */
export async function confirmWithPasskey(operation: ConfirmedOperation) {
  return askForPasskey(await call('auth.confirm.options', { body: { operation } }));
}
