// What a caller may do in a collection, and how it is refused what it may not.
import { type Collection, type CollectionId, type RefusalError, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Executor } from '../../database/schema.ts';
import { type FrontendCaller, heldCaller, type InstallationCaller, missingGrant } from '../../installations/face.ts';
import { type Act, type Allowed, allowedIn, grantedIn, includes } from '../collection-rule.ts';
import { type CollectionRow, lockSpace, selectChain } from './queries.ts';

export type AppCaller = FrontendCaller | InstallationCaller;

export interface Standing extends Allowed {
  readonly collection: CollectionRow;
  /** The collection itself first. */
  readonly chain: readonly [CollectionRow, ...CollectionRow[]];
}

type StandingContext = Pick<CoreContext, 'database' | 'pool'>;

/** Where a change takes place. */
export interface Space {
  readonly spaceId: string;
  /** `null` once the account of its owner is deleted. */
  readonly ownerKey: string | null;
}

/** @throws RefusalError `not_found` where the app may not even read; `not_authorized`, `grant_missing`, `content_conflict` */
export async function standingIn(
  context: StandingContext,
  caller: AppCaller,
  id: CollectionId,
  act: Act,
  db: Executor = context.database,
): Promise<Standing> {
  const chain = await selectChain(db, caller, id);
  const [collection, ...above] = chain;
  const allowed = allowedOf(chain, caller);
  if (collection === undefined || allowed === null) throw noCollection();
  if (!includes(allowed.act, act)) throw await refusalOf(context, caller, chain, act);
  return { ...allowed, collection, chain: [collection, ...above] };
}

/**
 * Begins a change in a space: from here on nothing else of it changes until the transaction has ended, and the caller is as of
 * now. Whoever lost access a moment ago changes nothing any more.
 *
 * @returns the caller as of now
 * @throws RefusalError `unauthenticated`, `runtime_paused`, `not_found`
 */
export async function holdToChange(
  context: Pick<CoreContext, 'clock'>,
  trx: Executor,
  caller: AppCaller,
  { spaceId, ownerKey }: Space,
): Promise<AppCaller> {
  const now = await heldCaller(trx, context, caller, ownerKey === null ? [] : [ownerKey]);
  if (!(await lockSpace(trx, spaceId))) throw noCollection();
  return now;
}

/**
 * What a caller may do in a transaction that changes something in the collection.
 *
 * @param collection as it was read before
 */
export async function standingToChange(
  context: StandingContext & Pick<CoreContext, 'clock'>,
  caller: AppCaller,
  act: Act,
  { trx, collection }: { readonly trx: Executor; readonly collection: CollectionRow },
): Promise<Standing & { readonly caller: AppCaller }> {
  const now = await holdToChange(context, trx, caller, spaceOf(collection));
  return { ...(await standingIn(context, now, collection.id, act, trx)), caller: now };
}

export function spaceOf({ space_id: spaceId, owner_key: ownerKey }: CollectionRow): Space {
  return { spaceId, ownerKey };
}

export function allowedOf(chain: readonly CollectionRow[], { grants }: Pick<AppCaller, 'grants'>): Allowed | null {
  return allowedIn({ chain, grants, ending: isEnding(chain) });
}

function isEnding([collection]: readonly CollectionRow[]): boolean {
  return collection !== undefined && hasNoOwner(collection);
}

/** Its account was deleted. Until the sweep says when it ends, that is not known. */
export function hasNoOwner({ owner_key, ends_at }: Pick<CollectionRow, 'owner_key' | 'ends_at'>): boolean {
  return owner_key === null || ends_at !== null;
}

async function refusalOf(
  context: StandingContext,
  caller: AppCaller,
  chain: readonly CollectionRow[],
  act: Act,
): Promise<RefusalError> {
  const [collection] = chain;
  if (collection !== undefined && hasNoOwner(collection)) {
    const until = collection.ends_at === null ? 'For now' : `Until ${collection.ends_at.toISOString().slice(0, 10)}`;
    return refuse('content_conflict', `The account that owned it was deleted. ${until} it can be read and copied.`);
  }
  const granted = grantedIn(chain, caller.grants);
  if (granted === null || !includes(granted, act))
    return missingGrant(context.pool, caller, {
      id: `content.collections.${act}`,
      resource: `${collection?.kind}:${collection?.id}`,
    });
  return refuse('not_authorized', 'The role of the person in this collection does not allow it.');
}

export function noCollection(): RefusalError {
  return refuse('not_found', 'There is no such collection, or it is not open to this app.');
}

export function shownCollection({ collection, role }: Pick<Standing, 'collection' | 'role'>): Collection {
  return {
    id: collection.id,
    kind: collection.kind,
    name: collection.name,
    parentId: collection.parent_id,
    role,
    createdAt: collection.created_at.toISOString(),
  };
}
