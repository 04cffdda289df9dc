// A bridge call that is answered with an error: the code of the contract's table and a sentence for the app's developer.
import type { ErrorCode } from '@platform/contract';

export class BridgeRefusal extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'BridgeRefusal';
    this.code = code;
  }
}
