// The outside origins that a frontend may load from or connect to (contract 3): how one is written, and what of a
// manifest counts as a request for `network.connect`. Free of zod, for the pages that bundle it.

/** Kinds of sources a manifest names in `frontend.csp`, each for one directive of the served policy. */
export const frontendSourceKinds = ['connect', 'image', 'media'] as const;
export type FrontendSources = {
  readonly [Kind in (typeof frontendSourceKinds)[number]]?: readonly string[] | undefined;
};

/**
 * An origin as the served policy can name it: https, a host of letters, digits, dots and hyphens (an international name
 * in its `xn--` form), at most a port. A `;`, a space, a quote or a `*` would become more than one origin.
 */
const SOURCE = /^https:\/\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/;

/** The origin of an https URL; `null` for what is none, or could not stand in a policy. */
export function sourceOrigin(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { origin } = new URL(url);
  return SOURCE.test(origin) ? origin : null;
}

/** Whether the text is an https origin exactly as browsers write it: lower case, no path, no default port. */
export function isSourceOrigin(text: string): boolean {
  return sourceOrigin(text) === text;
}

/** Every origin that `frontend.csp` names, each once. */
export function frontendOrigins(sources: FrontendSources | undefined): string[] {
  const urls = frontendSourceKinds.flatMap((kind) => sources?.[kind] ?? []);
  return [...new Set(urls.flatMap((url) => sourceOrigin(url) ?? []))];
}

/** What a resource of `network.connect` may be: everything, an origin, or what origins begin with and `*`. */
export function isConnectResource(resource: string): boolean {
  return resource === '*' || isSourceOrigin(resource) || /^https:\/\/[a-z0-9.-]*(:\d*)?\*$/.test(resource);
}
