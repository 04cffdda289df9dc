// Search: an index of OpenSearch that takes questions off PostgreSQL.
import type { CoreConfig } from './config.ts';
import { isLoopback, type Read, wrong } from './variables.ts';

export type SearchSettings = Pick<CoreConfig, 'searchOpenSearch'>;

const NAME = 'PLATFORM_SEARCH_OPENSEARCH_URL';

/** The address holds a password, so no refusal repeats it. */
export function readSearchSettings(read: Read): SearchSettings {
  const value = read(NAME);
  if (value === undefined) return { searchOpenSearch: null };
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.search !== '' || url.hash !== '')
    throw wrong(NAME, 'is not the address of a cluster', 'set it like https://user:password@opensearch.example:9200');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw wrong(
      NAME,
      'would send words of people over http to another machine',
      'use https; for a certificate of your own, name its authority in NODE_EXTRA_CA_CERTS',
    );
  const auth =
    url.username === ''
      ? null
      : { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  return { searchOpenSearch: { address: url.origin + url.pathname.replace(/\/$/, ''), auth } };
}
