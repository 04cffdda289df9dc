// What the shell is asked to do, one thing at a time, and how it went.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';

export interface Actions {
  readonly busy: boolean;
  readonly done: string;
  readonly failure: string | undefined;
  /** To be called when the person turns to something else. */
  forget(): void;
  /** @param ask has the shell ask the person; false when they declined. @param done what to say when they agreed */
  run(ask: () => Promise<boolean>, done: string): Promise<void>;
}

export function useActions(reload: () => Promise<void>): Actions {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState('');
  const [failure, setFailure] = useState<string>();
  return {
    busy,
    done,
    failure,
    forget() {
      setDone('');
      setFailure(undefined);
    },
    async run(ask, words) {
      setBusy(true);
      setFailure(undefined);
      setDone('');
      const agreed = await ask().catch((error: unknown) => {
        setFailure(messageOf(error));
        return false;
      });
      if (agreed) setDone(words);
      await reload();
      setBusy(false);
    },
  };
}

/** Brought into view and focused, since what the action was about may be gone. */
export function Outcome({ actions: { done, failure } }: { readonly actions: Actions }) {
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (done !== '') line.current?.focus();
  }, [done]);
  return (
    <>
      <p ref={line} class="outcome" role="status" tabIndex={-1}>
        {done}
      </p>
      <Failure text={failure} />
    </>
  );
}
