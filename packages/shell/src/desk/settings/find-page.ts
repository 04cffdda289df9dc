// Which page of Settings an address shows.
import { APP_ID } from '../../address/view.ts';
import type { AnyPage } from './page.ts';

export interface FoundPage {
  readonly page: AnyPage;
  /** Of the page, by name. */
  readonly params: Readonly<Record<string, string>>;
  /** The part of the address that names it. */
  readonly path: string;
}

/**
 * The page at the longest beginning of `path` that is one's; the first page when there is none.
 * @param path of the view, such as `apps/notes/log`
 */
export function findPage(pages: readonly [AnyPage, ...AnyPage[]], path: string): FoundPage {
  const segments = path.split('/');
  for (let length = segments.length; length > 0; length -= 1) {
    const beginning = segments.slice(0, length);
    for (const page of pages) {
      const params = paramsOf(page, beginning);
      if (params !== null) return { page, params, path: beginning.join('/') };
    }
  }
  return { page: pages[0], params: {}, path: pages[0].path };
}

/** `null` when the page is at another path. */
function paramsOf({ path, where }: AnyPage, segments: readonly string[]): Record<string, string> | null {
  const wanted = path.split('/');
  const patterns: Readonly<Record<string, RegExp>> = { appId: APP_ID, ...where };
  if (wanted.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const segment = segments[at] ?? '';
    const name = part.startsWith(':') ? part.slice(1) : null;
    if (name === null && part !== segment) return null;
    if (name === null) continue;
    const pattern = patterns[name];
    if (pattern === undefined || !pattern.test(segment)) return null;
    params[name] = segment;
  }
  return params;
}
