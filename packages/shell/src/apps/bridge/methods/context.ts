// What an app knows of itself and of the page around it.
import { resourcesOf } from '../grants.ts';
import type { MethodsOf } from '../method.ts';
import { readableStatuses } from '../statuses.ts';

export const contextMethods: MethodsOf<'context'> = {
  'context.get': {
    params: {},
    run: async ({ shell, caller }) => {
      const grants = await shell.currentGrants(caller.appId);
      const context = shell.contextOf(caller.appId, grants);
      const visible = resourcesOf(grants, 'runtime.status.read');
      return visible.length === 0 ? context : { ...context, runtime: await readableStatuses(shell, visible) };
    },
  },
};
