// What an export has of collections: those of the account with their items, and which ones of others it is a member of. Keys become
// no names of files, since some would mean something else to a disk.
import type { CollectionId } from '@platform/contract';
import { type AccountFile, everyRow, jsonFile, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { openBody } from './bodies/bodies.ts';
import { type OwnCollection, selectMemberships, selectOwn } from './export-queries.ts';
import { type KnownItem, selectItems } from './items/item-queries.ts';
import { selectMembers } from './members/member-queries.ts';

const PAGE = 200;

type FilesContext = Pick<CoreContext, 'database'>;

export async function* contentFiles(context: FilesContext, accountKey: string): AsyncGenerator<AccountFile> {
  const { database } = context;
  const page = (last: OwnCollection | undefined) =>
    selectOwn(database, accountKey, { after: last?.id ?? '', limit: PAGE });
  for await (const one of everyRow(page)) yield* filesOf(context, one);
  const memberships = await selectMemberships(database, accountKey);
  if (memberships.length > 0) yield jsonFile('collections-of-others.json', memberships);
}

async function* filesOf({ database }: FilesContext, one: OwnCollection): AsyncGenerator<AccountFile> {
  const folder = `collections/${one.id}`;
  const members = await selectMembers(database, [one.id]);
  yield jsonFile(`${folder}/collection.json`, {
    ...{ id: one.id, kind: one.kind, name: one.name, parentId: one.parent_id },
    createdAt: one.created_at.toISOString(),
    members: members.map(({ id, name, role, since }) => ({ id, name, role, since: since.toISOString() })),
  });
  const stored: object[] = [];
  for await (const item of everyRow((last: KnownItem | undefined) => itemsAfter({ database }, one.id, last))) {
    const { key, etag, size, body_id, changed_at } = item;
    const file = `items/${String(stored.length + 1).padStart(5, '0')}`;
    stored.push({ key, file, etag, size, at: changed_at.toISOString() });
    const open = () => openBody(database, { id: body_id, size });
    yield { path: `${folder}/${file}`, content: { bytes: size, open } };
  }
  async function* lines() {
    yield* stored;
  }
  yield* jsonLines(`${folder}/items`, lines());
}

function itemsAfter(
  { database }: FilesContext,
  id: CollectionId,
  last: KnownItem | undefined,
): Promise<readonly KnownItem[]> {
  return selectItems(database, id, { after: last?.key ?? '', limit: PAGE });
}
