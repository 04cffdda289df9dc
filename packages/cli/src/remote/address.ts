// The address of another platform, as a person names it.
import { UsageError } from '../command.ts';

/** Hosts that are this machine by their name: nobody else reads what is sent there. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/**
 * @param typed `cloud.example.org` or `https://cloud.example.org:8443`
 * @returns the origin
 * @throws UsageError for anything else, and for http to another machine: a token would travel in the clear
 */
export function originOf(typed: string): string {
  const url = parse(typed);
  const bare = url !== null && url.pathname === '/' && url.search === '' && url.username === '' && url.password === '';
  if (!bare || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${typed} is not the address of a platform, such as https://cloud.example.org`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new UsageError(
      `${typed} is not encrypted, so anyone on the way could read the token. Use its https address.`,
    );
  return url.origin;
}

function parse(typed: string): URL | null {
  const scheme = /^[a-z]+:\/\//i.test(typed) ? '' : 'https://';
  return URL.parse(scheme + typed);
}
