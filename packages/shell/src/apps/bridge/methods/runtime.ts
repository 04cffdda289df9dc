// The backends of the account: their state, and the pause of all of them.
import type { BackendStatus } from '@platform/contract';
import type { MethodsOf } from '../method.ts';
import { appIdText, optional } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';
import { appsWithBackend, statusOf } from '../statuses.ts';

export const runtimeMethods: MethodsOf<'runtime'> = {
  'runtime.status': {
    params: { appId: optional(appIdText) },
    grant: 'runtime.status.read',
    target: 'any',
    run: async ({ shell, params, resources }) => {
      const all = await appsWithBackend(shell, resources);
      const apps = params.appId === undefined ? all : all.filter(({ appId }) => appId === params.appId);
      if (params.appId !== undefined && apps.length === 0) {
        throw new BridgeRefusal('not_found', 'This app is not installed, or has no backend.');
      }
      const items: BackendStatus[] = [];
      // One after another: the connections to core are few, and the person's own clicks need them too.
      for (const { appId } of apps) items.push(await statusOf(shell, appId));
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
    run: (_, approved) => ({ paused: approved }),
  },
};
