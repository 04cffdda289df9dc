// The backends of the account: their state, and the pause of all of them.
import { coveredBy } from '../grants.ts';
import type { MethodsOf } from '../method.ts';
import { onlyStatus } from '../only-status.ts';
import { appIdText, optional } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

export const runtimeMethods: MethodsOf<'runtime'> = {
  'runtime.status': {
    params: { appId: optional(appIdText) },
    grant: 'runtime.status.read',
    target: 'any',
    run: async ({ shell, params, resources }) => {
      const apps = (await shell.installedApps()).filter(
        ({ appId, hasWorkload }) =>
          hasWorkload && coveredBy(resources, appId) && (params.appId === undefined || params.appId === appId),
      );
      if (params.appId !== undefined && apps.length === 0) {
        throw new BridgeRefusal('not_found', 'No such app is installed.');
      }
      const items = apps.map(async ({ appId }) => ({ appId, status: onlyStatus(await shell.statusOf(appId)) }));
      return { items: await Promise.all(items) };
    },
  },
  // Resuming is no method: only the page that stands in the place of everything does it.
  'runtime.pause': {
    params: {},
    grant: 'runtime.pause',
    target: '*',
    front: true,
    asks: ({ shell, caller }) => shell.reviewPause(caller.appId),
    run: ({ approved }) => ({ paused: approved }),
  },
};
