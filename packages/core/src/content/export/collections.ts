// What an export has of collections: those of the account with their items, and which ones of others it is a member of. Keys become
// no names of files, since some would mean something else to a disk.
import { type AccountFile, everyRow, jsonFile, jsonLines } from '../../account-files.ts';
import { type KnownItem, selectItem, selectItems } from '../items/item-queries.ts';
import { selectMembers } from '../members/member-queries.ts';
import { type OwnCollection, selectAdmittedApps, selectMemberships, selectOwn } from './queries.ts';
import { archived, type StagingContext } from './staged-body.ts';

const PAGE = 200;

export async function* collectionFiles(context: StagingContext, accountKey: string): AsyncGenerator<AccountFile> {
  const { database } = context;
  const page = (last: OwnCollection | undefined) =>
    selectOwn(database, accountKey, { after: last?.id ?? '', limit: PAGE });
  for await (const one of everyRow(page)) yield* filesOf(context, accountKey, one);
  const memberships = await selectMemberships(database, accountKey);
  if (memberships.length > 0) yield jsonFile('collections-of-others.json', memberships);
}

async function* filesOf(context: StagingContext, accountKey: string, one: OwnCollection): AsyncGenerator<AccountFile> {
  const { database } = context;
  const folder = `collections/${one.id}`;
  const members = await selectMembers(database, [one.id]);
  yield jsonFile(`${folder}/collection.json`, {
    ...{ id: one.id, kind: one.kind, name: one.name, parentId: one.parent_id },
    createdAt: one.created_at.toISOString(),
    members: members.map(({ id, name, role, since }) => ({ id, name, role, since: since.toISOString() })),
    apps: await selectAdmittedApps(database, accountKey, one.id),
  });
  const stored: object[] = [];
  const page = (last: KnownItem | undefined) => selectItems(database, one.id, { after: last?.key ?? '', limit: PAGE });
  for await (const { key } of everyRow(page)) {
    const file = `items/${String(stored.length + 1).padStart(5, '0')}`;
    const item = yield* archived(context, {
      path: `${folder}/${file}`,
      read: () => selectItem(database, { collectionId: one.id, key }),
      bodyOf: ({ body_id: id, size }) => ({ id, size }),
    });
    if (item === null) continue;
    const { etag, size, changed_at } = item.row;
    stored.push({ key, file: item.written ? file : null, etag, size, at: changed_at.toISOString() });
  }
  yield* jsonLines(`${folder}/items`, stored);
}
