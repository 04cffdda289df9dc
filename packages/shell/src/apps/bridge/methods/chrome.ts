// What surrounds an app: its title in the bar, and the trusted surfaces of the shell.
import type { MethodsOf } from '../method.ts';
import { appIdText, oneOf, optional, titleText } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

export const chromeMethods: MethodsOf<'chrome'> = {
  // A title is any app's own. A surface is for Settings, and for the platform's own app of the same name.
  'chrome.set': {
    params: {
      title: optional(titleText),
      surface: optional(oneOf(['permissions', 'passkeys', 'sessions', 'logs', 'notifications', 'storage', 'ai'])),
      appId: optional(appIdText),
    },
    only: ({ surface }) => (surface === undefined ? undefined : ['settings', surface]),
    front: ({ surface }) => surface !== undefined,
    installed: ({ surface, appId }) => (surface === undefined ? undefined : appId),
    run: ({ shell, caller, params: { title, surface, appId } }) => {
      if (surface === 'logs' && appId === undefined) {
        throw new BridgeRefusal('invalid_request', '`appId` names the app whose log is shown.');
      }
      if (surface !== undefined) shell.showSurface(surface, appId ?? null);
      if (title !== undefined) shell.setTitle(caller.appId, title);
      return null;
    },
  },
};
