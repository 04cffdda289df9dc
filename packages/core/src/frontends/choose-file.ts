// Which file of a package answers a path: the file itself, the index of a folder, or for a page of an app that routes
// in the browser its entry document.

export type Choice =
  | { readonly kind: 'file'; readonly name: string }
  /** `path` is encoded and starts with exactly one slash. */
  | { readonly kind: 'redirect'; readonly path: string }
  | { readonly kind: 'none' };

export interface FileRequest {
  /** Decoded segments below the root, as `normaliseStaticPath` gives them. */
  readonly segments: readonly string[];
  readonly trailingSlash: boolean;
  /** Whether a person follows a link there, as opposed to a page that loads a part of itself. */
  readonly wantsPage: boolean;
}

/** @param entry the entry document of the app, for paths such as `/notes/1` that only its script knows */
export function chooseFile(names: ReadonlySet<string>, entry: string, request: FileRequest): Choice {
  const { segments, trailingSlash, wantsPage } = request;
  const name = segments.join('/');
  const index = segments.length === 0 ? 'index.html' : `${name}/index.html`;
  if (!trailingSlash && names.has(name)) return { kind: 'file', name };
  if (names.has(index)) return trailingSlash ? { kind: 'file', name: index } : redirect(segments, '/');
  if (segments.length === 0) return redirect(entry.split('/'), '');
  const last = segments.at(-1) ?? '';
  if (wantsPage && !last.includes('.') && names.has(entry)) return { kind: 'file', name: entry };
  return { kind: 'none' };
}

function redirect(segments: readonly string[], end: string): Choice {
  return { kind: 'redirect', path: `/${segments.map(encodeURIComponent).join('/')}${end}` };
}
