// Words of all accounts stand in one list of the database's index. Each begins with a mark of its account there, so that
// a word, and above all the beginning of one, leads to entries of that account, however many others there are.

/** Characters of a mark. */
export const MARK_LENGTH = 6;

/**
 * The random end of an account's key. Two accounts may have the same one, which costs time and shows nothing: every
 * search has the account among its conditions besides.
 */
export function markOf(accountKey: string): string {
  return accountKey.slice(-MARK_LENGTH);
}
