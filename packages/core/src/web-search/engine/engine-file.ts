// The file that PLATFORM_WEB_SEARCH_FILE names: the search engine of the operator. Read at the start and again on SIGHUP; a wrong one
// stops the start, and later keeps what was read before.
import * as z from 'zod';
import { OperatorFile, type PlatformKey } from '../../config/operator-file.ts';

export interface EngineSettings {
  readonly kind: 'searxng' | 'brave';
  /** Where a search is requested, without its query. */
  readonly address: URL;
  readonly key: PlatformKey | null;
}

const shape = z.strictObject({
  kind: z.enum(['searxng', 'brave']),
  url: z.url({ protocol: /^https?$/ }).max(1_024),
  /** From the folder of the file. */
  keyFile: z.string().min(1).optional(),
});

/** What each documents; a URL of the operator's may end with it, or leave it out. */
const PATHS = { searxng: '/search', brave: '/res/v1/web/search' } as const;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** @throws StartError that says what is wrong with the file, or with that of the key */
export function readEngineFile(name: string): EngineSettings {
  const file = new OperatorFile('PLATFORM_WEB_SEARCH_FILE', name);
  const { kind, url, keyFile } = file.read(shape);
  const address = new URL(url);
  if (address.username !== '' || address.password !== '' || address.search !== '' || address.hash !== '')
    throw file.wrong('url: must be an address without user, query and fragment');
  if (kind === 'brave' && keyFile === undefined)
    throw file.wrong('keyFile: is missing; Brave answers nobody without a key');
  if (keyFile !== undefined && address.protocol === 'http:' && !LOOPBACK.test(address.hostname))
    throw file.wrong('url: must be https, since the key would go over the network in the clear');
  const base = address.pathname.replace(/\/+$/, '');
  address.pathname = base.endsWith(PATHS[kind]) ? base : base + PATHS[kind];
  return { kind, address, key: keyFile === undefined ? null : file.key(keyFile) };
}
