// Which app is the home screen, and how the tiles of the home screen are arranged.
import type { MethodsOf } from '../method.ts';
import { appIdList } from '../params.ts';

export const launcherMethods: MethodsOf<'launcher'> = {
  'launcher.register': {
    params: {},
    grant: 'apps.launcher.register',
    target: 'self',
    front: true,
    run: async ({ shell, caller }) => {
      await shell.becomeHome(caller.appId);
      return null;
    },
  },
  'launcher.restore': {
    params: {},
    grant: 'apps.launcher.register',
    target: 'self',
    front: true,
    run: async ({ shell }) => {
      await shell.restoreHome();
      return null;
    },
  },
  'launcher.tiles': {
    params: {},
    grant: 'apps.launcher.register',
    target: 'self',
    only: 'home',
    run: ({ shell }) => shell.homeTiles(),
  },
  'launcher.arrange': {
    params: { pinned: appIdList, order: appIdList },
    grant: 'apps.launcher.register',
    target: 'self',
    only: 'home',
    front: true,
    run: ({ shell, params }) => shell.arrangeHome(params),
  },
};
