// Data that a view loads when it appears, and again when apps or grants change or the person returns.
import type { App } from '@platform/sdk/browser';
import { useCallback, useEffect, useState } from 'preact/hooks';

export interface Loaded<Value> {
  /** `undefined` until the first answer. */
  readonly value: Value | undefined;
  /** What went wrong at the last attempt; the value of the one before stays. */
  readonly failure: string | undefined;
  reload(): Promise<void>;
}

export function useLoaded<Value>(app: App, load: () => Promise<Value>): Loaded<Value> {
  const [value, setValue] = useState<Value>();
  const [failure, setFailure] = useState<string>();
  const reload = useCallback(
    () =>
      load().then(
        (fresh) => {
          setValue(() => fresh);
          setFailure(undefined);
        },
        (error: unknown) => setFailure(messageOf(error)),
      ),
    [],
  );
  useEffect(() => {
    void reload();
    const again = () => void reload();
    const ends = [app.on('apps', again), app.on('context', again)];
    // The person comes back to this frame: what changes by itself, as the state of a backend, is read anew.
    window.addEventListener('focus', again);
    return () => {
      for (const end of ends) end();
      window.removeEventListener('focus', again);
    };
  }, [reload]);
  return { value, failure, reload };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
