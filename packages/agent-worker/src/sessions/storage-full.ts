// A full disk or a full volume: the person can do something about it, so it is told apart from other failures.
export function isStorageFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
