// Errors of links that callers distinguish.

/** The other side is there and holds another key. */
export class WrongKeyError extends Error {
  constructor(where: string) {
    super(`${where} does not hold the key that is expected of it`);
    this.name = 'WrongKeyError';
  }
}
