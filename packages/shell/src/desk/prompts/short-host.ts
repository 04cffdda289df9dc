// A host as a heading has room for it.

const MOST = 64;

/** The end of a long host says whose it is, so only the beginning goes. */
export function shortHost(host: string): string {
  return host.length <= MOST ? host : `…${host.slice(1 - MOST)}`;
}
