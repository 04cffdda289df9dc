// The backends of the account: their state, and the pause of all of them.
import type { BridgeCalls } from '@platform/contract';
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
      const items: BridgeCalls['runtime.status']['result']['items'][number][] = [];
      // One after another: the connections to core are few, and the person's own clicks need them too.
      for (const { appId } of apps) items.push({ appId, status: onlyStatus(await shell.statusOf(appId)) });
      return { items };
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
