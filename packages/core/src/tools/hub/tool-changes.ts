// Tells subscribers that the tools of their account changed: after a signal, or after a look at its running backends, which nobody else
// announces. There is a look only while somebody listens.
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { Hub } from './hub-tool.ts';

/** A change shows within two seconds: one look, and the signal that follows. */
const LOOK_MILLISECONDS = 1_000;

/** What one subscription of an account listens to. */
export function changesFor(hub: Hub, accountKey: string): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe(listener: (event: ServerEvent) => void) {
      const changed = (): void => listener({ kind: 'tools_list_changed' });
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
          .of(accountKey)
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
