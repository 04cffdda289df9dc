// Links out of the platform: a frame opens no window, so the shell asks the person and opens it.
import type { MethodsOf } from '../method.ts';
import { linkText } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

export const linkMethods: MethodsOf<'links'> = {
  'links.open': {
    params: { url: linkText },
    front: true,
    asks: ({ shell, caller, params }) => {
      // In a tab of its own an app would be outside the sandbox of its frame, and could look like the shell.
      if (shell.isPlatformAddress(caller.appId, params.url)) {
        throw new BridgeRefusal('not_authorized', 'Addresses of the platform do not open as links; use apps.open.');
      }
      return shell.reviewLink(caller.appId, params.url);
    },
    run: (_, approved) => ({ opened: approved }),
  },
};
