// What a view of a system app shows besides its data: filters, the entry that is open. An app is unloaded when the person
// leaves it; with this it comes back as it was.
import type { App } from '@platform/sdk/browser';
import { useCallback, useEffect, useState } from 'preact/hooks';

type Values = Record<string, unknown>;

let app: App | undefined;
let values: Values = {};

/** Before the first view is drawn. What cannot be read is no reason to stay away: the app then begins as it does at first. */
export async function readKept(connected: App): Promise<void> {
  app = connected;
  values = (await connected.state.get<Values>().catch(() => null)) ?? {};
}

/** As `useState`, under a name, and found again when the app comes back. */
export function useKept<Value extends string | boolean>(name: string, initial: Value): [Value, (value: Value) => void] {
  const found = values[name];
  // Written by this function alone, with values of the same type under the same name.
  const [value, setValue] = useState(typeof found === typeof initial ? (found as Value) : initial);
  const keep = useCallback(
    (fresh: Value) => {
      setValue(() => fresh);
      values = { ...values, [name]: fresh };
      // Without it the next visit begins with the defaults, which is no reason to disturb this one.
      app?.state.set(values).catch(() => {});
    },
    [name],
  );
  return [value, keep];
}

/**
 * What is open in front of a list, by its id; empty for the list. As `useKept`, and the browser's Back leads to what was open before;
 * from what a link opened, to where the link was; from what took the place of what was open, to what was open before that.
 */
export function useOpened(name: string): [string, (id: string, by?: 'link' | 'place') => void] {
  const [opened, keep] = useKept<string>(name, '');
  useEffect(() => {
    const follow = () => keep(openedAt(name));
    window.addEventListener('popstate', follow);
    return () => window.removeEventListener('popstate', follow);
  }, [name, keep]);
  const open = (id: string, by?: 'link' | 'place') => {
    if (id === opened) return;
    // The same step back as the browser's: pressing that afterwards must not open it again.
    if (id === '' && openedAt(name) === opened) history.back();
    else {
      if (by === 'place') history.replaceState({ [name]: id }, '');
      else if (id !== '' && by !== 'link') history.pushState({ [name]: id }, '');
      keep(id);
    }
  };
  return [opened, open];
}

/** What this page itself opened; an app that comes back begins without. */
function openedAt(name: string): string {
  const { [name]: id } = (history.state ?? {}) as Readonly<Record<string, unknown>>;
  return typeof id === 'string' ? id : '';
}
