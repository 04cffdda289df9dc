// What a call to one path of a provider is. Paths are read as generously as any server may read them, and calls that are
// not known to run the model of their body are treated as calls to the whole provider.

/** What a call to one path of a provider is. */
export interface Endpoint {
  /** Model that the path names; `null` where it names none. */
  readonly model: string | null;
  /**
   * It runs the model that its body names, and does nothing else: a grant of that model is enough. For all others the
   * provider must be granted as a whole, whatever their body says.
   */
  readonly runsModel: boolean;
  /** Why it is not offered, as a sentence; `null` for what is. */
  readonly refusal: string | null;
  /**
   * Members of the body that limit the output; the first is the one to write. Empty where the output cannot be limited.
   */
  readonly limits: readonly string[];
  /** Members of the body that say how many answers the limit counts for. */
  readonly copies: readonly string[];
  /** Members of the body whose every element is answered, where they are lists of texts. */
  readonly lists: readonly string[];
  /** The answer may have output tokens. */
  readonly generates: boolean;
  /** The answer may be sounds or pictures, which are no text. */
  readonly answersMedia: boolean;
  /** Costs nothing unless the provider reports otherwise. */
  readonly free: boolean;
  /** Streams report their usage only when the body's `stream_options` ask for it. */
  readonly reportsOnRequest: boolean;
}

export interface EndpointTable {
  /** Of POST, by their place: what runs the model of its body. */
  readonly running: ReadonlyMap<string, Endpoint>;
  /** Of POST: what neither reads nor writes tokens. */
  readonly stores: RegExp;
  /** Of POST, any segment: what runs models after it was answered, so that nobody learns what they used. */
  readonly uncounted: RegExp;
  /** Of any method, any segment: what hands out keys, or what only the owner of the key may see. */
  readonly ofOwner: RegExp;
}

export const NOTHING: Endpoint = {
  model: null,
  runsModel: false,
  refusal: null,
  limits: [],
  copies: [],
  lists: [],
  generates: false,
  answersMedia: false,
  free: true,
  reportsOnRequest: false,
};
export const GENERATES: Endpoint = { ...NOTHING, generates: true, free: false };

const UNCOUNTED =
  'This call runs models after it was answered, so its tokens cannot be counted. Make the calls one by one.';
const OF_OWNER = 'This call is for the owner of the key alone: it gives out keys, or shows the owner’s account.';
const ONE_MODEL = /^(?:v1\/)?models\/([^/]+)$/;

/** @param path below the base URL, without leading slash */
export function endpointOf(table: EndpointTable, method: string, path: string): Endpoint {
  const place = placeOf(path);
  if (hasSegment(place, table.ofOwner)) return { ...NOTHING, refusal: OF_OWNER };
  if (method !== 'POST') return { ...NOTHING, model: method === 'DELETE' ? null : modelIn(path) };
  if (hasSegment(place, table.uncounted)) return { ...NOTHING, refusal: UNCOUNTED };
  const running = table.running.get(place);
  if (running !== undefined) return { ...running, runsModel: true };
  // Such as `deployments/<name>/chat/completions`, where the path may choose another model than the body.
  const similar = [...table.running].filter(([name]) => place.endsWith(`/${name}`));
  const [longest] = similar.sort(([one], [other]) => other.length - one.length);
  return longest?.[1] ?? (table.stores.test(place) ? NOTHING : GENERATES);
}

/** One spelling of what servers may take for the same path. */
function placeOf(path: string): string {
  const segments = path
    .split('/')
    .map((segment) => decoded(segment).replace(/;.*$/s, '').trim().toLowerCase())
    .filter((segment) => segment !== '');
  return (segments[0] === 'v1' ? segments.slice(1) : segments).join('/');
}

function hasSegment(place: string, wanted: RegExp): boolean {
  return place.split('/').some((segment) => wanted.test(segment));
}

function modelIn(path: string): string | null {
  const segment = ONE_MODEL.exec(path)?.[1];
  return segment === undefined ? null : decoded(segment);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
