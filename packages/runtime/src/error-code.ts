// What the system calls an error: `ENOENT`, `EADDRINUSE`.

/** The code of a failed system call; `unknown` for any other error. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
