// What the master account sets for the whole platform, with its session at the shell and a passkey. No app can, not even Fleet.
import { type DomainRoute, refuse } from '@platform/contract';
import { subjectOfProvider, subjectOfSetting } from '@platform/contract/setting-subjects';
import { ceremonyRefused, confirmed, isMaster, type Refused } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { changeSetting, listChanges, removeProvider, setProvider } from '../settings/change-settings.ts';
import { findModelServers, MODEL_PLACES } from '../settings/model-servers.ts';
import { ownPorts } from '../settings/own-address.ts';
import { settingsView } from '../settings/settings.ts';

const CHANGES = 'setting-changes';

export function settingsRoutes(
  context: CoreContext,
  places: typeof MODEL_PLACES = MODEL_PLACES,
): HandlersOf<DomainRoute<'operatorSettings'>> {
  const { cursors, database, log, settings, signals, pool } = context;
  let looking: ReturnType<typeof findModelServers> | undefined;

  async function requireMaster({ accountName }: { readonly accountName: string }): Promise<void> {
    if (!(await isMaster(context, accountName))) throw refuse('master_account_only');
  }

  function refusedBy(request: Parameters<typeof ceremonyRefused>[1], operation: string): Refused {
    return (fault) => ceremonyRefused(log, request, operation, fault);
  }

  async function view() {
    return { status: 200, body: settingsView(await settings.read()) } as const;
  }

  /** One look at a time: concurrent calls share it. */
  function look(): ReturnType<typeof findModelServers> {
    looking ??= findModelServers(places, ownPorts(context)).finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    'operator.settings.read': async ({ caller }) => {
      await requireMaster(caller);
      return view();
    },
    'operator.settings.changes': async ({ caller, query: { limit, cursor } }) => {
      await requireMaster(caller);
      const before = cursor === undefined ? null : String(cursors.decode(CHANGES, cursor));
      const found = await listChanges(database, { before, limit: limit + 1 });
      const items = found.slice(0, limit);
      const last = items.at(-1);
      const nextCursor = found.length > limit && last !== undefined ? cursors.encode(CHANGES, last.id) : null;
      return { status: 200, body: { items, nextCursor } };
    },
    'operator.settings.change': async ({ caller, params: { setting }, body: { value, confirmation }, request }) => {
      await requireMaster(caller);
      const by = caller.accountName;
      const operation = 'operator.setting.change';
      const subject = subjectOfSetting(setting, value);
      const refused = refusedBy(request, 'change-setting');
      await confirmed(context, { caller, operation, subject, confirmation, refused }, (trx) =>
        changeSetting(context, trx, { by, setting, value }),
      );
      await signals.settled(pool);
      log.info({ requestId: request.id, account: by, setting, value }, 'a setting was changed in Fleet');
      return view();
    },
    'operator.providers.set': async ({ caller, params: { provider: id }, body, request }) => {
      await requireMaster(caller);
      const by = caller.accountName;
      const { confirmation, ...provider } = body;
      const operation = 'operator.provider.set';
      const subject = subjectOfProvider(id, provider.baseUrl);
      const refused = refusedBy(request, 'set-provider');
      await confirmed(context, { caller, operation, subject, confirmation, refused }, (trx) =>
        setProvider(context, trx, { by, id, body: provider }),
      );
      await signals.settled(pool);
      const { baseUrl } = provider;
      log.info({ requestId: request.id, account: by, provider: id, baseUrl }, 'an AI provider was set in Fleet');
      return view();
    },
    'operator.providers.remove': async ({ caller, params: { provider: id }, body: { confirmation }, request }) => {
      await requireMaster(caller);
      const by = caller.accountName;
      const operation = 'operator.provider.remove';
      const refused = refusedBy(request, 'remove-provider');
      await confirmed(context, { caller, operation, subject: id, confirmation, refused }, (trx) =>
        removeProvider(context, trx, { by, id }),
      );
      await signals.settled(pool);
      log.info({ requestId: request.id, account: by, provider: id }, 'an AI provider was removed in Fleet');
      return view();
    },
    'operator.modelServers.find': async ({ caller }) => {
      await requireMaster(caller);
      const [found, { intelligence }] = await Promise.all([look(), settings.current()]);
      const items = found.map((server) => {
        const { origin } = new URL(server.baseUrl);
        const known = intelligence.providers.find(({ baseUrl }) => new URL(baseUrl).origin === origin);
        return { ...server, provider: known?.id ?? null };
      });
      return { status: 200, body: { items } };
    },
  };
}
