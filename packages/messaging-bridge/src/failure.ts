// What core is told when an operation cannot be done.
import type { MessagingBridgeErrorCode } from '@platform/contract';
import { HomeserverGoneError, MatrixError } from './matrix/homeserver.ts';

export class OperationError extends Error {
  readonly code: MessagingBridgeErrorCode;

  /** @param message in words, for people */
  constructor(code: MessagingBridgeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @returns the error itself where it is no failure of the homeserver */
export function asOperationError(error: unknown): unknown {
  if (error instanceof HomeserverGoneError)
    return new OperationError('unavailable', 'The homeserver does not answer at present.', { cause: error });
  if (!(error instanceof MatrixError)) return error;
  if (error.code === 'M_LIMIT_EXCEEDED' || error.status === 429)
    return new OperationError('rate_limited', 'The homeserver limits how much is sent. Try again later.', {
      cause: error,
    });
  return new OperationError('unavailable', `The homeserver refuses: ${error.code}.`, { cause: error });
}
