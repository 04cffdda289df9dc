// Reading something for a settings page: nothing yet, the value, or why not; and reading it again.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { plainMessage } from './api-error.ts';
import { onceLiveAgain } from './live.ts';

export interface Reading<Value> {
  readonly value: Value | null;
  readonly failure: string | null;
  readonly again: () => Promise<void>;
  /** Puts in what a change answered, without reading again. */
  readonly put: (value: Value) => void;
}

/** Reads when the page appears, and again once the platform answers if it did not. The page is keyed by what it shows, so `read` may close over it. */
export function useReading<Value>(read: () => Promise<Value>): Reading<Value> {
  const value = useSignal<Value | null>(null);
  const failure = useSignal<string | null>(null);

  async function again(): Promise<void> {
    try {
      value.value = await read();
      failure.value = null;
    } catch (error) {
      failure.value = plainMessage(error);
    }
  }

  useEffect(() => {
    void again();
    return onceLiveAgain(() => {
      if (failure.value !== null) void again();
    });
  }, []);
  return {
    value: value.value,
    failure: failure.value,
    again,
    put: (next) => {
      value.value = next;
    },
  };
}

/** One action of a page: under way, or why it failed. */
export function useAction() {
  const busy = useSignal(false);
  const failure = useSignal<string | null>(null);

  /** @returns whether it worked */
  async function run(work: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false;
    busy.value = true;
    failure.value = null;
    try {
      await work();
      return true;
    } catch (error) {
      failure.value = plainMessage(error);
      return false;
    } finally {
      busy.value = false;
    }
  }
  return { busy: busy.value, failure: failure.value, run };
}
