// Notifies subscribers that the tools of their account changed: after a signal, or after a look at its running backends, which announce
// nothing by themselves. There is a look only while somebody listens.
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { ServedTools, Serving } from '../served/served-tools.ts';
import type { Hub } from './hub-tool.ts';

/** A change shows within a second, and the signal that follows. */
const LOOK_MILLISECONDS = 1_000;
/** What a call changed shows sooner; calls in quick succession share the look. */
const AFTER_CALL_MILLISECONDS = 200;

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

interface Look {
  readonly run: () => Promise<void>;
  readonly timer: NodeJS.Timeout;
  afterCall?: NodeJS.Timeout | undefined;
  readers: number;
}

/** What is looked at, by account and app (`''`: all): one look does for all subscriptions. */
const looks = new WeakMap<ServedTools, Map<string, Look>>();

const keyOf = (accountKey: string, appId = ''): string => `${accountKey} ${appId}`;

/** An app may offer something else after a call. Costs nothing where nobody listens. */
export function lookAfterCall({ served }: Hub, accountKey: string, serving: Serving): void {
  const all = looks.get(served);
  for (const key of [keyOf(accountKey), keyOf(accountKey, serving.app_id)]) {
    const look = all?.get(key);
    if (look === undefined) continue;
    look.afterCall ??= setTimeout(() => {
      look.afterCall = undefined;
      served.doubt(serving);
      void look.run();
    }, AFTER_CALL_MILLISECONDS);
  }
}

/** @returns a function that ends it */
function lookAt({ served, log }: Hub, accountKey: string, appId: string | undefined): () => void {
  const all = looks.get(served) ?? new Map<string, Look>();
  looks.set(served, all);
  const key = keyOf(accountKey, appId);
  const look = all.get(key) ?? begin();
  all.set(key, look);
  look.readers += 1;
  return () => {
    look.readers -= 1;
    if (look.readers > 0) return;
    clearInterval(look.timer);
    clearTimeout(look.afterCall);
    all.delete(key);
  };

  function begin(): Look {
    const run = async (): Promise<void> => {
      try {
        await served.of(accountKey, appId);
      } catch (error) {
        log.debug({ err: error }, 'the tools of an account were not looked at');
      }
    };
    return { run, timer: setInterval(run, LOOK_MILLISECONDS), readers: 0 };
  }
}
