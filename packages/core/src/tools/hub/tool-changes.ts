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
      const { signals } = hub;
      const offs = [
        signals.onAbout('tools-changed', 'accountKey', accountKey, changed),
        signals.onAbout('installation-changed', 'accountKey', accountKey, changed),
        signals.onReset(changed),
      ];
      offs.push(lookAt(hub, accountKey, appId));
      return () => {
        for (const off of offs) off();
      };
    },
  };
}

/** What is looked at, and by how many subscriptions: one look does for all of them. */
const looks = new WeakMap<Hub['served'], Map<string, { readers: number; readonly timer: NodeJS.Timeout }>>();

/** @returns a function that ends it */
function lookAt({ served, log }: Hub, accountKey: string, appId: string | undefined): () => void {
  const all = looks.get(served) ?? new Map();
  looks.set(served, all);
  const key = `${accountKey} ${appId ?? ''}`;
  const look = all.get(key) ?? { readers: 0, timer: every(LOOK_MILLISECONDS, () => served.of(accountKey, appId)) };
  look.readers += 1;
  all.set(key, look);
  return () => {
    look.readers -= 1;
    if (look.readers > 0) return;
    clearInterval(look.timer);
    all.delete(key);
  };

  function every(milliseconds: number, work: () => Promise<unknown>): NodeJS.Timeout {
    let working = false;
    return setInterval(() => {
      if (working) return;
      working = true;
      void work()
        .catch((error: unknown) => log.debug({ err: error }, 'the tools of an account were not looked at'))
        .finally(() => {
          working = false;
        });
    }, milliseconds);
  }
}
