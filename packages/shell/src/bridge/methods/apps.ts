// Other apps of the account: which there are, opening, starting, installing and removing them.

import { coveredBy } from '../grants.ts';
import type { MethodsOf } from '../method.ts';
import { onlyStatus } from '../only-status.ts';
import { appIdText, oneOf, optional, targetText, versionText } from '../params.ts';

export const appMethods: MethodsOf<'apps'> = {
  'apps.list': {
    params: { scope: optional(oneOf(['installed', 'catalog'])) },
    grant: ({ scope }) => (scope === 'catalog' ? 'apps.install' : 'apps.catalog.read'),
    target: 'any',
    run: async ({ shell, params, resources }) => {
      const all = params.scope === 'catalog' ? await shell.catalog() : await shell.installedApps();
      const items = all.filter(({ appId }) => coveredBy(resources, appId));
      const icons = await Promise.all(items.map(({ icon }) => shell.iconOf(icon)));
      return { items: items.map((item, index) => ({ ...item, icon: icons[index] ?? null })) };
    },
  },
  'apps.open': {
    params: { appId: appIdText, target: optional(targetText) },
    grant: 'apps.lifecycle',
    target: ({ appId }) => appId,
    front: true,
    installed: ({ appId }) => appId,
    run: ({ shell, params }) => {
      shell.open(params.appId, params.target ?? null);
      return null;
    },
  },
  'apps.start': {
    params: { appId: appIdText },
    grant: 'apps.lifecycle',
    target: ({ appId }) => appId,
    run: async ({ shell, params }) => onlyStatus(await shell.startBackend(params.appId)),
  },
  'apps.stop': {
    params: { appId: appIdText },
    grant: 'apps.lifecycle',
    target: ({ appId }) => appId,
    run: async ({ shell, params }) => onlyStatus(await shell.stopBackend(params.appId)),
  },
  'apps.return': {
    params: {},
    grant: 'apps.lifecycle',
    target: (_, { appId }) => appId,
    front: true,
    run: ({ shell }) => {
      shell.goHome();
      return null;
    },
  },
  'apps.requestInstall': {
    params: { appId: appIdText, version: optional(versionText) },
    grant: 'apps.install',
    target: ({ appId }) => appId,
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewInstall(caller.appId, params.appId, params.version ?? null),
    run: ({ approved }) => ({ installed: approved }),
  },
  'apps.uninstall': {
    params: { appId: appIdText },
    grant: 'apps.uninstall',
    target: ({ appId }) => appId,
    front: true,
    installed: ({ appId }) => appId,
    asks: ({ shell, caller, params }) => shell.reviewUninstall(caller.appId, params.appId),
    run: ({ approved }) => ({ removed: approved }),
  },
};
