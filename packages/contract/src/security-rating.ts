// The security rating of an app, 5 (safest) to 1: what it could do at worst with what it is granted, whoever made it, and why.
// The one function that decides it, for the Store, reviews, Settings and the command line; docs/decisions/security-rating.md
// has the reasoning. Free of zod, for the pages that bundle it.
import type { CatalogDetail } from './domains/catalog.ts';
import type { Manifest } from './domains/packages.ts';
import { isPermissionId, type PermissionId, permissions } from './permissions.ts';
import { openRoutes } from './public-routes.ts';

export type Rating = 1 | 2 | 3 | 4 | 5;

/** What each rating asks of a person, and what an app of it could do at worst. */
export const ratingScale: Readonly<Record<Rating, { readonly label: string; readonly worst: string }>> = {
  5: { label: 'Needs almost no trust', worst: 'It reaches nothing but its own data.' },
  4: {
    label: 'Needs a little trust',
    worst:
      'It could bother you, use the server needlessly, or learn facts such as your account name. Nothing it knows leaves the platform.',
  },
  3: {
    label: 'Needs some trust',
    worst: 'It could pass on what you give it to a few named places, or see or change one thing beyond itself.',
  },
  2: {
    label: 'Needs a lot of trust',
    worst:
      'It could pass on what you give it to anyone, be reached by anyone, read all of something private, or speak for you.',
  },
  1: {
    label: 'Needs complete trust',
    worst: 'It could pass on private things that it reads, or others could make it act in your name.',
  },
};

export interface RatingReason {
  /** The best rating that an app can have with it. */
  readonly rating: Rating;
  /** A sentence in the words of the permissions: `It can read your messages.` */
  readonly text: string;
}

export interface SecurityRating {
  readonly rating: Rating;
  /** The gravest first. Empty for a 5. */
  readonly reasons: readonly RatingReason[];
}

/** What an app has: what was or would be granted to it. */
export interface RatedApp {
  readonly permissions: readonly { readonly id: string; readonly resources: readonly string[] }[];
  /** `null` without one, or where it does not run. */
  readonly backend: { readonly runtime: string; readonly mode: string } | null;
}

/** What one permission allows at worst. */
interface Power {
  /** The best rating with it. */
  readonly rating: Exclude<Rating, 1>;
  /** Where its resources have no bound, and what its words then end with. */
  readonly wide?: { readonly rating: Exclude<Rating, 1>; readonly words: string };
  /** It shows what is private: messages, what other apps hold. */
  readonly reads?: true;
  /** It leads out of the platform, to other people or to other apps: what the app knows can leave by it. */
  readonly carries?: true;
  /** It acts with the person's authority without asking each time. */
  readonly acts?: true;
  /** Strangers reach the app by it. */
  readonly opens?: true;
}

/** The compiler demands an entry for each permission. */
export const powers: Readonly<Record<PermissionId, Power>> = {
  'notifications.publish': { rating: 4 },
  'notifications.read': { rating: 3, reads: true },
  'apps.catalog.read': { rating: 4 },
  'apps.create': { rating: 3 },
  'apps.install': { rating: 4 },
  'apps.uninstall': { rating: 4 },
  'apps.lifecycle': { rating: 4 },
  'apps.launcher.register': { rating: 3 },
  'schedules.manage': { rating: 3, acts: true },
  'runtime.status.read': { rating: 4 },
  'account.profile.read': { rating: 4 },
  'runtime.pause': { rating: 3 },
  'system.inventory.read': { rating: 2, reads: true },
  'wallet.payment.propose': { rating: 3 },
  'wallet.policy.propose': { rating: 3 },
  'mcp.tools.call': {
    rating: 3,
    wide: { rating: 2, words: ' without a limit' },
    reads: true,
    carries: true,
    acts: true,
  },
  'mcp.tools.propose': { rating: 4 },
  'mcp.tools.serve': { rating: 4 },
  // A provider can be told to fetch addresses and to call services, so what it is sent can go on from there.
  'intelligence.use': { rating: 3, carries: true },
  'secrets.use': { rating: 3, carries: true, acts: true },
  'network.connect': { rating: 3, wide: { rating: 2, words: ' at any address' }, carries: true },
  'object-storage.raw': { rating: 5 },
  'files.user.manage': { rating: 2, reads: true, acts: true },
  'content.collections.read': { rating: 3, reads: true },
  // Other members of a collection read what is written to it; to write includes to read.
  'content.collections.write': { rating: 3, reads: true, carries: true, acts: true },
  'content.collections.manage': { rating: 3, reads: true, carries: true, acts: true },
  'search.index': { rating: 4 },
  'messaging.read': { rating: 2, reads: true },
  'messaging.send': { rating: 2, carries: true, acts: true },
  'messaging.resolve': { rating: 3 },
  'endpoints.public': { rating: 2, carries: true, opens: true },
  'endpoints.public.udp': { rating: 2, carries: true, opens: true },
  'network.public': { rating: 2, carries: true },
  'runtime.network-tunnel': { rating: 2 },
};

/** What a backend does without any permission. */
export const backendPowers = {
  always: { rating: 4, text: 'Its backend runs all the time, even while you don’t use it.' },
  agent: { rating: 4, text: 'Its backend is an AI agent, which what it reads can mislead.' },
} as const satisfies Record<string, RatingReason>;

/** Pairs that are worse by one than the worse of the two: what each side is, and what the pair means. */
const pairs: readonly {
  readonly one: 'reads' | 'acts';
  readonly other: 'carries' | 'opens';
  readonly text: (one: string, other: string) => string;
}[] = [
  {
    one: 'reads',
    other: 'carries',
    text: (one, other) => `It can ${one} and pass on what it learns, because it can ${other}.`,
  },
  {
    one: 'acts',
    other: 'opens',
    text: (one, other) => `Strangers could get it to ${one}, because it can ${other}.`,
  },
];

/** A permission that the app has and that opens something. */
interface Held extends Power {
  readonly id: PermissionId;
  readonly plain: string;
}

/**
 * Pure, for every input: a permission that nobody knows counts as the worst. More permissions, wider resources or more of a
 * backend never make the rating better, and their order changes nothing.
 */
export function securityRating({ permissions: granted, backend }: RatedApp): SecurityRating {
  const held = Object.keys(powers)
    .filter(isPermissionId)
    .flatMap((id) => heldOf(id, granted));
  const reasons: RatingReason[] = [
    ...unknownOnes(granted),
    ...pairsOf(held),
    ...held.map(({ rating, plain }) => ({ rating, text: `It can ${plain}.` })),
    ...(backend === null ? [] : backendReasons(backend, held)),
  ];
  const sorted = reasons.filter(({ rating }) => rating < 5).toSorted((one, other) => one.rating - other.rating);
  return { rating: sorted[0]?.rating ?? 5, reasons: sorted };
}

/** Of a version with all that it asks for, as the catalog describes it. */
export function askedRating({
  permissions: requested,
  publicRoutes,
  backend,
  resources,
}: Pick<CatalogDetail, 'permissions' | 'publicRoutes' | 'backend' | 'resources'>): SecurityRating {
  return securityRating({
    permissions: byRoute(requested, publicRoutes),
    backend: backend === null ? null : { runtime: backend.runtime, mode: resources?.mode ?? 'automatic' },
  });
}

interface RatedManifest extends Pick<Manifest, 'permissions' | 'publicEndpoints'> {
  readonly workload?: RatedApp['backend'] | undefined;
}

/** The same of its manifest. */
export function manifestRating({
  permissions: requested,
  publicEndpoints = [],
  workload,
}: RatedManifest): SecurityRating {
  const asked = requested.filter(({ id }) => id === 'endpoints.public').flatMap(({ resources }) => resources);
  return securityRating({
    permissions: byRoute(requested, openRoutes(publicEndpoints, asked)),
    backend: workload ?? null,
  });
}

/** Without a declared route, `endpoints.public` opens nothing. */
function byRoute(requested: RatedApp['permissions'], routes: readonly string[]): RatedApp['permissions'] {
  return requested.map((one) => (one.id === 'endpoints.public' ? { ...one, resources: routes } : one));
}

function heldOf(id: PermissionId, granted: RatedApp['permissions']): Held[] {
  const resources = granted.filter((one) => one.id === id).flatMap((one) => one.resources);
  if (resources.length === 0) return [];
  const { wide, ...power } = powers[id];
  const { plain } = permissions[id];
  if (wide === undefined || !resources.some((resource) => isUnbounded(id, resource))) return [{ id, plain, ...power }];
  return [{ id, ...power, rating: wide.rating, plain: `${plain}${wide.words}` }];
}

/** `notes.*` is one app; what ends within its name, or an address, can be anybody's. */
function isUnbounded(id: PermissionId, resource: string): boolean {
  return resource.endsWith('*') && !(id === 'mcp.tools.call' && resource.includes('.'));
}

function unknownOnes(granted: RatedApp['permissions']): RatingReason[] {
  const ids = granted.filter(({ id, resources }) => resources.length > 0 && !isPermissionId(id)).map(({ id }) => id);
  return [...new Set(ids)]
    .toSorted()
    .map((id) => ({ rating: 1, text: `It asks for “${id}”, which this version of the platform does not know.` }));
}

/** For each permission on one side its gravest counterpart. */
function pairsOf(held: readonly Held[]): RatingReason[] {
  return pairs.flatMap(({ one: side, other: across, text }) =>
    held
      .filter((one) => one[side])
      .flatMap((one) => {
        const others = held.filter((other) => other[across] && other.id !== one.id);
        const [gravest] = others.toSorted((a, b) => a.rating - b.rating);
        return gravest === undefined
          ? []
          : [{ rating: worseThan(one.rating, gravest.rating), text: text(one.plain, gravest.plain) }];
      }),
  );
}

const NEXT_WORSE = { 5: 4, 4: 3, 3: 2, 2: 1 } as const;

function worseThan(one: Exclude<Rating, 1>, other: Exclude<Rating, 1>): Rating {
  return NEXT_WORSE[one < other ? one : other];
}

function backendReasons({ runtime, mode }: NonNullable<RatedApp['backend']>, held: readonly Held[]): RatingReason[] {
  const always = mode === 'automatic' ? [] : [backendPowers.always];
  if (runtime !== 'agent') return always;
  const misled = held
    .filter(({ acts }) => acts)
    .map(({ rating, plain }) => ({
      rating: worseThan(rating, backendPowers.agent.rating),
      text: `What its AI agent reads could mislead it to ${plain}.`,
    }));
  return [...misled, ...always, backendPowers.agent];
}
