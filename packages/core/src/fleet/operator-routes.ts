// What the master account does to the platform, with its session at the shell. No app can: not even Fleet, which a fault
// or a package could turn against the platform, so it asks the shell, and a person answers there.
import { type DomainRoute, refuse } from '@platform/contract';
import {
  ceremonyRefused,
  confirmed,
  createInvitation,
  deleteAccount,
  isMaster,
  listInvitations,
  requireAccountOf,
  requireNotMaster,
  resumeSuspended,
  revokeInvitation,
  setPlan,
  suspendAccount,
} from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';

export type OperatorRoute = Exclude<DomainRoute<'operator'>, 'services.system.accounts'>;

export function operatorRoutes(context: CoreContext): HandlersOf<OperatorRoute> {
  async function requireMaster({ accountName }: { readonly accountName: string }): Promise<void> {
    if (!(await isMaster(context, accountName))) throw refuse('master_account_only');
  }

  return {
    'operator.invitations.list': async ({ caller, query }) => {
      await requireMaster(caller);
      const items = await listInvitations(context);
      const list = { name: 'invitations', items, idOf: ({ id }: (typeof items)[number]) => id };
      return { status: 200, body: listPage(context, query, list) };
    },
    'operator.invitations.create': async ({ caller, body, request }) => {
      await requireMaster(caller);
      const invitation = await createInvitation(context, body.name ?? null);
      context.log.info({ requestId: request.id, account: caller.accountName }, 'an invitation was made');
      return { status: 201, body: { invitation } };
    },
    'operator.invitations.revoke': async ({ caller, params }) => {
      await requireMaster(caller);
      await revokeInvitation(context, params.id);
      return { status: 204 };
    },

    'operator.accounts.suspend': async ({ caller, params: { name }, request }) => {
      await requireMaster(caller);
      if (await isMaster(context, name))
        throw refuse('not_authorized', `${name} is the master account. It can be suspended on the server only.`);
      await suspendAccount(context, name);
      context.log.info({ requestId: request.id, account: name }, 'an account was suspended');
      return { status: 204 };
    },
    'operator.accounts.resume': async ({ caller, params: { name }, request }) => {
      await requireMaster(caller);
      await resumeSuspended(context, name);
      context.log.info({ requestId: request.id, account: name }, 'an account was resumed');
      return { status: 204 };
    },
    'operator.accounts.plan': async ({ caller, params: { name }, body }) => {
      await requireMaster(caller);
      await setPlan(context, await requireAccountOf(context, name), body.plan);
      return { status: 204 };
    },
    'operator.accounts.delete': async ({ caller, params: { name }, body, request }) => {
      await requireMaster(caller);
      await requireNotMaster(context, name);
      if (body.name !== name) throw refuse('invalid_request', `Type ${name}, the name of the account, to delete it.`);
      const { confirmation } = body;
      const refused = (fault: Parameters<typeof ceremonyRefused>[3]) =>
        ceremonyRefused(context.log, request, 'delete-account', fault);
      const operation = 'operator.account.delete';
      await confirmed(context, { caller, operation, confirmation, refused }, async () => undefined);
      await deleteAccount(context, { name });
      await context.signals.settled(context.pool);
      context.log.info({ requestId: request.id, account: name }, 'an account was deleted by the operator');
      return { status: 204 };
    },
  };
}
