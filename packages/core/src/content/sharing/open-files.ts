// Files that others have: those that a person handed to apps, and those that their apps opened to other apps and accounts. The person
// sees all of it, and takes back what they like, also what an app opened that they removed since.
import { appId, type FileId, type FilePrincipal, type OpenFile, type RouteQuery, refuse } from '@platform/contract';
import type { ListPage } from '../../http/list-page.ts';
import { accountOfAddress, addressText, parseAddress } from '../../messaging/face.ts';
import { lockSpace } from '../collections/queries.ts';
import { allowsAccess } from '../file-rule.ts';
import { selectEntries, selectTransfers } from '../files/access-queries.ts';
import { type FileRow, selectFile, selectFiles } from '../files/file-queries.ts';
import { shownOwner } from '../files/shared-files.ts';
import type { FileContext } from '../files/write-file.ts';
import { deleteEntries, deleteTransfersOf, selectOpenIds } from './queries.ts';

export async function listOpenFiles(
  context: FileContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'account.openFiles.list'>,
): Promise<ListPage<OpenFile>> {
  const { database, cursors } = context;
  const list = `open-files:${accountKey}`;
  const after = cursor === undefined ? '' : String(cursors.decode(list, cursor));
  const ids = await selectOpenIds(database, accountKey, { after, limit: limit + 1 });
  const shown = ids.slice(0, limit);
  const last = shown.at(-1);
  const more = ids.length > limit && last !== undefined;
  return {
    items: shown.length === 0 ? [] : await openFiles(context, accountKey, shown),
    nextCursor: more ? cursors.encode(list, last) : null,
  };
}

async function openFiles(context: FileContext, accountKey: string, ids: readonly FileId[]): Promise<OpenFile[]> {
  const { database, config } = context;
  const { serverName } = config.messaging;
  const rows = await selectFiles(database, ids);
  const own = rows.filter((row) => row.owner_key === accountKey).map(({ id }) => id);
  const entries = Map.groupBy(await selectEntries(database, own), (entry) => entry.file_id);
  const transfers = Map.groupBy(await selectTransfers(database, ids, accountKey), (transfer) => transfer.file_id);
  return rows.map((row) => ({
    ...{ id: row.id, name: row.name, type: row.media_type, size: Number(row.size) },
    createdAt: row.created_at.toISOString(),
    changedAt: row.changed_at.toISOString(),
    from: shownOwner(context, row, accountKey),
    openTo: strongestOfEach([
      ...(transfers.get(row.id) ?? []).map((one) => ({
        principal: { app: appId.parse(one.app_id) },
        access: one.access,
      })),
      ...(entries.get(row.id) ?? []).map(({ app_id, name, access }) => ({
        principal:
          app_id === null
            ? { account: addressText({ kind: 'local', name: name ?? '' }, serverName) }
            : { app: appId.parse(app_id) },
        access,
      })),
    ]),
  }));
}

type OpenTo = OpenFile['openTo'][number];

function strongestOfEach(all: readonly OpenTo[]): OpenTo[] {
  const keyOf = ({ principal }: OpenTo) =>
    'app' in principal ? `app ${principal.app}` : `account ${principal.account}`;
  const strongest = (some: readonly OpenTo[]) =>
    some.reduce((one, other) => (allowsAccess(one.access, other.access) ? one : other));
  return [...Map.groupBy(all, keyOf).values()].map(strongest);
}

/**
 * From the answer on, whoever had it neither reads nor writes it.
 *
 * @param principal default: everybody who has it
 * @throws RefusalError `not_found`
 */
export async function closeFile(
  context: FileContext,
  accountKey: string,
  id: FileId,
  principal: FilePrincipal | undefined,
): Promise<void> {
  const whom = await storedPrincipal(context, principal);
  await context.database.transaction().execute(async (trx) => {
    const file = await selectFile(trx, id);
    if (file === undefined || !(await lockSpace(trx, file.space_id))) throw notOpen();
    const { appId: app, accountKey: account } = whom;
    let closed = 0;
    // What others opened to the account is theirs to close; what it handed on is not.
    if (isOwn(file, accountKey)) closed += await deleteEntries(trx, id, whom);
    if (account === null) closed += await deleteTransfersOf(trx, id, { accountKey, appId: app });
    if (closed === 0) throw notOpen();
  });
}

function isOwn(file: FileRow, accountKey: string): boolean {
  return file.owner_key === accountKey;
}

async function storedPrincipal(
  context: FileContext,
  principal: FilePrincipal | undefined,
): Promise<{ readonly appId: string | null; readonly accountKey: string | null }> {
  if (principal === undefined) return { appId: null, accountKey: null };
  if ('app' in principal) return { appId: principal.app, accountKey: null };
  const address = parseAddress(principal.account, context.config.messaging.serverName);
  const account = address?.kind === 'local' ? await accountOfAddress(context, address) : undefined;
  if (account === undefined) throw notOpen();
  return { appId: null, accountKey: account.key };
}

function notOpen() {
  return refuse('not_found', 'There is no such file, or whoever had it has it no more.');
}
