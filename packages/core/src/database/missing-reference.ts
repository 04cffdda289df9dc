// Why a statement failed: what it refers to was removed since it was looked up.

/** Whether a row that a statement refers to is gone (SQLSTATE 23503, foreign_key_violation). */
export function isMissingReference(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}
