// What a person reads when a passkey ceremony failed, or what it was for.
import { ApiError, plainMessage } from '../api/api-error.ts';
import { PasskeyError } from './passkey.ts';

export interface Failure {
  readonly text: string;
  readonly tone: 'danger' | 'info';
}

/** @param otherwise for what is neither of the passkey nor of core */
export function failureOf(error: unknown, otherwise?: string): Failure {
  if (error instanceof PasskeyError) return { text: error.message, tone: error.cancelled ? 'info' : 'danger' };
  if (error instanceof ApiError && error.code === 'verification_failed')
    return {
      text: 'This passkey was not accepted. Try again, or use another passkey of this account.',
      tone: 'danger',
    };
  if (otherwise !== undefined && !(error instanceof ApiError)) return { text: otherwise, tone: 'danger' };
  return { text: plainMessage(error), tone: 'danger' };
}
