// Other apps of the account: which there are, opening, starting, installing and removing them.

import type { CatalogDetail, UnmetNeed } from '@platform/contract';
import { essentialApp } from '../../essential-apps.ts';
import { coveredBy } from '../grants.ts';
import type { MethodsOf } from '../method.ts';
import { appIdText, draftIdText, oneOf, optional, targetText, versionText, wholeNumber } from '../params.ts';
import type { ShellSide } from '../shell-side.ts';
import { onlyStatus } from '../statuses.ts';

export const appMethods: MethodsOf<'apps'> = {
  'apps.list': {
    params: { scope: optional(oneOf(['installed', 'catalog'])), icons: optional(oneOf(['data', 'path'])) },
    grant: ({ scope }) => (scope === 'catalog' ? 'apps.install' : 'apps.catalog.read'),
    target: 'any',
    run: async ({ shell, params, resources }) => {
      const all = params.scope === 'catalog' ? await shell.catalog() : await shell.installedApps();
      const items = all.filter(({ appId }) => coveredBy(resources, appId));
      if (params.icons === 'path') return { items };
      const icons = await Promise.all(items.map(({ icon }) => shell.iconOf(icon)));
      return { items: items.map((item, index) => ({ ...item, icon: icons[index] ?? null })) };
    },
  },
  'apps.details': {
    params: { appId: appIdText, version: optional(versionText) },
    grant: 'apps.install',
    target: ({ appId }) => appId,
    run: async ({ shell, params, caller }) => {
      const detail = await shell.details(params.appId, params.version ?? null);
      const { installed } = detail;
      const [icon, present] = await Promise.all(
        [detail.icon, installed?.icon ?? null].map((path) => shell.iconOf(path)),
      );
      return {
        ...detail,
        icon: icon ?? null,
        installed: installed === null ? null : { ...installed, icon: present ?? null },
        link: shell.storeLink(params.appId),
        // What this platform has and lacks is for its own Store.
        unmet: caller.isSystemApp() ? await unmetOf(shell, detail) : [],
      };
    },
  },
  'apps.icon': {
    params: { appId: appIdText, version: versionText },
    grant: 'apps.install',
    target: ({ appId }) => appId,
    run: async ({ shell, params }) => ({ icon: await shell.iconOf(shell.iconPath(params)) }),
  },
  'apps.screenshot': {
    params: { appId: appIdText, version: versionText, number: wholeNumber(1, 9) },
    grant: 'apps.install',
    target: ({ appId }) => appId,
    run: async ({ shell, params }) => ({ picture: await shell.screenshotOf(params) }),
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
    run: async ({ shell, caller, params }) => onlyStatus(await shell.stopBackend(caller.appId, params.appId)),
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
    run: (_, approved) => ({ installed: approved }),
  },
  'apps.create': {
    params: { draftId: draftIdText },
    grant: 'apps.create',
    target: '*',
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewDraft(caller.appId, params.draftId),
    run: (_, approved) => ({ accepted: approved }),
  },
  'apps.withdraw': {
    params: { appId: appIdText, version: versionText },
    only: ['store'],
    grant: 'apps.install',
    target: ({ appId }) => appId,
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewWithdraw(caller.appId, params.appId, params.version),
    run: (_, approved) => ({ withdrawn: approved }),
  },
  'apps.uninstall': {
    params: { appId: appIdText },
    grant: 'apps.uninstall',
    target: ({ appId }) => appId,
    only: ({ appId }) => (essentialApp(appId) === undefined ? undefined : ['settings']),
    front: true,
    installed: ({ appId }) => appId,
    asks: ({ shell, caller, params }) => shell.reviewUninstall(caller.appId, params.appId),
    run: (_, approved) => ({ removed: approved }),
  },
};

/** Loaded with the first page of an app that anybody looks at. */
async function unmetOf(shell: ShellSide, detail: CatalogDetail): Promise<readonly UnmetNeed[]> {
  const { unmetNeeds } = await import('@platform/contract/unmet-needs');
  return unmetNeeds(detail, await shell.call('account.offers'));
}
