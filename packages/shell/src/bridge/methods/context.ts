// What an app knows of itself and of the page around it.
import type { MethodsOf } from '../method.ts';

export const contextMethods: MethodsOf<'context'> = {
  'context.get': {
    params: {},
    run: async ({ shell, caller }) => shell.contextOf(caller.appId, await shell.currentGrants(caller.appId)),
  },
};
