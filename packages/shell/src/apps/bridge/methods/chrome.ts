// What surrounds an app: its title in the bar, and the trusted surfaces of the shell.
import type { ShellSurface } from '@platform/contract';
import type { MethodsOf } from '../method.ts';
import { appIdText, oneOf, optional, titleText } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

/** The app that may show a surface, besides Settings, where it has another name. */
const APP_OF: Readonly<Partial<Record<ShellSurface, string>>> = { platform: 'fleet', ai: 'agent' };

export const chromeMethods: MethodsOf<'chrome'> = {
  // A title is any app's own. A surface is for Settings, and for the platform's own app of the same name.
  'chrome.set': {
    params: {
      title: optional(titleText),
      surface: optional(
        oneOf(['permissions', 'passkeys', 'sessions', 'logs', 'notifications', 'storage', 'ai', 'platform']),
      ),
      appId: optional(appIdText),
    },
    only: ({ surface }) => (surface === undefined ? undefined : ['settings', APP_OF[surface] ?? surface]),
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
