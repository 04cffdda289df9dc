// What a caller may do in a collection, and how it is refused what it may not.
import { type Collection, type CollectionId, type RefusalError, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Executor } from '../../database/schema.ts';
import { type FrontendCaller, type InstallationCaller, missingGrant } from '../../installations/face.ts';
import { type Act, type Allowed, allowedIn, grantedIn, includes } from '../collection-rule.ts';
import { type CollectionRow, lockSpace, selectChain } from './queries.ts';

export type AppCaller = FrontendCaller | InstallationCaller;

export interface Standing extends Allowed {
  readonly collection: CollectionRow;
  /** The collection itself first. */
  readonly chain: readonly [CollectionRow, ...CollectionRow[]];
}

type StandingContext = Pick<CoreContext, 'database' | 'pool'>;

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
 * The same in a transaction that changes something in the collection: from here on nothing else of its space changes until it
 * has ended, so that who lost access a moment ago changes nothing any more.
 *
 * @param spaceId of the collection, as it was read before
 */
export async function standingToChange(
  context: StandingContext,
  caller: AppCaller,
  id: CollectionId,
  act: Act,
  { trx, spaceId }: { readonly trx: Executor; readonly spaceId: string },
): Promise<Standing> {
  if (!(await lockSpace(trx, spaceId))) throw noCollection();
  return standingIn(context, caller, id, act, trx);
}

export function allowedOf(chain: readonly CollectionRow[], { grants }: Pick<AppCaller, 'grants'>): Allowed | null {
  return allowedIn({ chain, grants, ending: isEnding(chain) });
}

function isEnding([collection]: readonly CollectionRow[]): boolean {
  return collection !== undefined && collection.ends_at !== null;
}

async function refusalOf(
  context: StandingContext,
  caller: AppCaller,
  chain: readonly CollectionRow[],
  act: Act,
): Promise<RefusalError> {
  const [collection] = chain;
  if (collection?.ends_at)
    return refuse(
      'content_conflict',
      `The account that owned it was deleted. Until ${collection.ends_at.toISOString().slice(0, 10)} it can be read and copied.`,
    );
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
