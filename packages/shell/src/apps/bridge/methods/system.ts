// The platform as a whole, for the master account in Fleet. The shell asks the person about each change and shows the link of
// an invitation itself: Fleet gets neither authority over accounts nor that link. What holds for
// the whole platform is changed on a page of the shell alone, which also takes keys.
import type { MethodsOf } from '../method.ts';
import { accountNameText, cursorText, invitationIdText, oneOf, optional, wholeNumber } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

const FOR_FLEET = { only: ['fleet'], grant: 'system.inventory.read', target: '*' } as const;

export const systemMethods: MethodsOf<'system'> = {
  'system.invitations': {
    ...FOR_FLEET,
    params: { limit: optional(wholeNumber(1, 200)), cursor: optional(cursorText) },
    run: async ({ shell, params }) => {
      const [page, { registration }] = await Promise.all([
        shell.call('operator.invitations.list', { query: { ...params } }),
        shell.call('auth.registration'),
      ]);
      return { ...page, registration };
    },
  },
  'system.settings': {
    ...FOR_FLEET,
    params: {},
    run: ({ shell }) => shell.call('operator.settings.read'),
  },
  'system.setup': {
    ...FOR_FLEET,
    params: {},
    run: async ({ shell }) => {
      const { setup } = await shell.call('operator.guide.read');
      if (setup === null) throw new BridgeRefusal('master_account_only', 'Only the operator sees what is set up.');
      return setup;
    },
  },
  'system.invite': {
    ...FOR_FLEET,
    params: { name: optional(accountNameText) },
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewInvite(caller.appId, params.name ?? null),
    run: (_, approved) => ({ invited: approved }),
  },
  'system.uninvite': {
    ...FOR_FLEET,
    params: { id: invitationIdText },
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewUninvite(caller.appId, params.id),
    run: (_, approved) => ({ revoked: approved }),
  },
  'system.changeAccount': {
    ...FOR_FLEET,
    params: {
      name: accountNameText,
      change: oneOf(['suspend', 'resume', 'plan-free', 'plan-paid', 'plan-default', 'delete']),
    },
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewAccountChange(caller.appId, params),
    run: (_, approved) => ({ changed: approved }),
  },
};
