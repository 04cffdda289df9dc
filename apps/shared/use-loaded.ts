// Data that a view loads when it appears, and again when apps or grants change or the person returns.
import { type App, PlatformError } from '@platform/sdk/browser';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

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
  const latest = useRef<Promise<void>>(undefined);
  const reload = useCallback(() => {
    const reading = read();
    latest.current = reading;
    return reading;

    /** Answers may come in any order: only the one to the last question counts, and what waits, waits for that. */
    async function read(): Promise<void> {
      const answer = await load().then(
        (fresh) => ({ fresh }),
        (error: unknown) => ({ failure: messageOf(error) }),
      );
      if (latest.current !== reading) return latest.current;
      if ('fresh' in answer) setValue(() => answer.fresh);
      setFailure('failure' in answer ? answer.failure : undefined);
    }
  }, []);
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
  if (error instanceof PlatformError) return error.detail;
  return 'This app stopped on an unexpected error. Close it and open it again.';
}
