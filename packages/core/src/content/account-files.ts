// What an export has of collections: those of the account with their items, and which ones of others it is a member of. Keys become
// no names of files, since some would mean something else to a disk.
import type { Readable } from 'node:stream';
import type { CollectionId } from '@platform/contract';
import { type AccountFile, everyRow, jsonFile, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { openBody } from './bodies/bodies.ts';
import { type OwnCollection, selectMemberships, selectOwn } from './export-queries.ts';
import { type ItemPlace, type KnownItem, selectItem, selectItems } from './items/item-queries.ts';
import { selectMembers } from './members/member-queries.ts';

const PAGE = 200;

type FilesContext = Pick<CoreContext, 'database' | 'clock'>;

export async function* contentFiles(context: FilesContext, accountKey: string): AsyncGenerator<AccountFile> {
  const { database } = context;
  const page = (last: OwnCollection | undefined) =>
    selectOwn(database, accountKey, { after: last?.id ?? '', limit: PAGE });
  for await (const one of everyRow(page)) yield* filesOf(context, one);
  const memberships = await selectMemberships(database, accountKey);
  if (memberships.length > 0) yield jsonFile('collections-of-others.json', memberships);
}

async function* filesOf(context: FilesContext, one: OwnCollection): AsyncGenerator<AccountFile> {
  const { database } = context;
  const folder = `collections/${one.id}`;
  const members = await selectMembers(database, [one.id]);
  yield jsonFile(`${folder}/collection.json`, {
    ...{ id: one.id, kind: one.kind, name: one.name, parentId: one.parent_id },
    createdAt: one.created_at.toISOString(),
    members: members.map(({ id, name, role, since }) => ({ id, name, role, since: since.toISOString() })),
  });
  const stored: object[] = [];
  for await (const { key } of everyRow((last: KnownItem | undefined) => itemsAfter(context, one.id, last))) {
    const found = await openItem(context, { collectionId: one.id, key });
    if (found === undefined) continue;
    const { item, bytes } = found;
    const { etag, size, changed_at } = item;
    const file = `items/${String(stored.length + 1).padStart(5, '0')}`;
    stored.push({ key, file, etag, size, at: changed_at.toISOString() });
    yield { path: `${folder}/${file}`, content: { bytes: size, open: () => bytes } };
  }
  async function* lines() {
    yield* stored;
  }
  yield* jsonLines(`${folder}/items`, lines());
}

/** As it is once its turn has come: a download takes long, and items change meanwhile. `undefined` where it was deleted. */
async function openItem(
  context: FilesContext,
  place: ItemPlace,
): Promise<{ readonly item: KnownItem; readonly bytes: Readable } | undefined> {
  for (;;) {
    const item = await selectItem(context.database, place);
    if (item === undefined) return undefined;
    const bytes = await openBody(context, { id: item.body_id, size: item.size });
    if (bytes !== undefined) return { item, bytes };
  }
}

function itemsAfter(
  { database }: FilesContext,
  id: CollectionId,
  last: KnownItem | undefined,
): Promise<readonly KnownItem[]> {
  return selectItems(database, id, { after: last?.key ?? '', limit: PAGE });
}
