// What Settings → Sharing lists and ends, over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { HandlersOf } from '../../http/handlers.ts';
import { deleteAsOwner, listMembersForPerson, listOfPerson, removeMemberAsPerson } from './collections.ts';
import { closeFile, listOpenFiles } from './open-files.ts';

export type SharingRoute = DomainRoute<'sharing'>;

export function sharingRoutes(context: CoreContext): HandlersOf<SharingRoute> {
  return {
    'account.collections.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listOfPerson(context, accountKey, query),
    }),
    'account.collections.delete': async ({ caller: { accountKey }, params: { id } }) => {
      await deleteAsOwner(context, accountKey, id);
      return { status: 204 };
    },
    'account.collections.members': async ({ caller: { accountKey }, params: { id }, query }) => ({
      status: 200,
      body: await listMembersForPerson(context, accountKey, id, query),
    }),
    'account.collections.members.remove': async ({ caller: { accountKey }, params: { id, memberId } }) => {
      await removeMemberAsPerson(context, accountKey, { id, memberId });
      return { status: 204 };
    },
    'account.openFiles.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listOpenFiles(context, accountKey, query),
    }),
    'account.openFiles.close': async ({ caller: { accountKey }, params: { id }, body: { principal } }) => {
      await closeFile(context, accountKey, id, principal);
      return { status: 204 };
    },
  };
}
