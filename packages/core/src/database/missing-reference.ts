// Why a statement failed: what it refers to was removed since it was looked up.

/** Whether a row that a statement refers to is gone (SQLSTATE 23503, foreign_key_violation). */
export function isMissingReference(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}

/** The same, and not a row that was to be deleted while others still refer to it. */
export function isNoMore(error: unknown): boolean {
  return isMissingReference(error) && /^insert or update /.test((error as Error).message);
}
