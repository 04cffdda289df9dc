// Tells subscribers that the tools of their account changed: after a signal, or after a look at its running backends, which nobody else
// announces. There is a look only while somebody listens.
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { Hub } from './hub-tool.ts';

/** A change shows within two seconds: one look, and the signal that follows. */
const LOOK_MILLISECONDS = 1_000;

const KINDS = ['tools_list_changed', 'resources_list_changed', 'prompts_list_changed'] as const;

/** What one subscription of an account listens to: of one app, or the tools of all. */
export function changesFor(hub: Hub, accountKey: string, appId?: string): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe(listener: (event: ServerEvent) => void) {
      // Which of the lists of an app changed nobody says; the client hears of those that it asked for.
      const changed = (): void => {
        for (const kind of KINDS) listener({ kind });
      };
      const { signals, served } = hub;
      const offs = [
        signals.onAbout('tools-changed', 'accountKey', accountKey, changed),
        signals.onAbout('installation-changed', 'accountKey', accountKey, changed),
        signals.onReset(changed),
      ];
      let looking = false;
      const looks = setInterval(() => {
        if (looking) return;
        looking = true;
        void served
          .of(accountKey, appId)
          .catch((error: unknown) => hub.log.debug({ err: error }, 'the tools of an account were not looked at'))
          .finally(() => {
            looking = false;
          });
      }, LOOK_MILLISECONDS);
      return () => {
        clearInterval(looks);
        for (const off of offs) off();
      };
    },
  };
}
