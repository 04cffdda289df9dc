// Which app is the home screen.
import type { MethodsOf } from '../method.ts';

export const launcherMethods: MethodsOf<'launcher'> = {
  'launcher.register': {
    params: {},
    grant: 'apps.launcher.register',
    target: 'self',
    front: true,
    run: ({ shell, caller }) => {
      shell.becomeHome(caller.appId);
      return null;
    },
  },
};
