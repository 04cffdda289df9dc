// What a view of a system app shows besides its data: filters, the entry that is open. An app is unloaded when the person
// leaves it; with this it comes back as it was.
import type { App } from '@platform/sdk/browser';
import { useCallback, useState } from 'preact/hooks';

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
