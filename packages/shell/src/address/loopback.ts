// Whether a name leads to this computer alone, wherever it is read.

/** @param hostname of an address, as `URL` gives it */
export function isLoopback(hostname: string): boolean {
  return /(?:^|\.)localhost$|^127\.|^\[::1\]$/.test(hostname);
}
