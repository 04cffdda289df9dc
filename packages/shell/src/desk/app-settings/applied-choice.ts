// A choice that is saved as it is made: one change after the other, and what is chosen meanwhile goes with the next. The page
// may be left at any time; what was sent is carried out all the same.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { type Choice, sameChoice } from '../prompts/narrowing.ts';

interface AppliedChoice {
  readonly choice: Choice;
  readonly isSaving: boolean;
  /** Why the last change was refused; the choice is then what is saved. */
  readonly failure: string | null;
  /** Something was saved since the page was opened. */
  readonly hasSaved: boolean;
  readonly canUndo: boolean;
  readonly change: (next: Choice) => void;
  /** Back to before the last change that was made here. */
  readonly undo: () => void;
}

/** @param send saves a choice; after it, `saved` is that choice */
export function useAppliedChoice(saved: Choice, send: (wanted: Choice) => Promise<void>): AppliedChoice {
  /** What the person wants and is not saved; `null` when nothing waits. */
  const wanted = useSignal<Choice | null>(null);
  const failure = useSignal<string | null>(null);
  const hasSaved = useSignal(false);
  /** What was chosen before each change, the latest last. */
  const before = useSignal<readonly Choice[]>([]);
  const isSending = useRef(false);
  const latest = useRef(send);
  latest.current = send;

  async function sendAll(): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    try {
      for (let next = wanted.value; next !== null; next = wanted.value) {
        await latest.current(next);
        hasSaved.value = true;
        if (wanted.value === next) wanted.value = null;
      }
    } catch (error) {
      failure.value = plainMessage(error);
      wanted.value = null;
      before.value = before.value.slice(0, -1);
    } finally {
      isSending.current = false;
    }
  }

  function want(next: Choice): void {
    failure.value = null;
    wanted.value = next;
    void sendAll();
  }

  const choice = wanted.value ?? saved;
  return {
    choice,
    isSaving: wanted.value !== null,
    failure: failure.value,
    hasSaved: hasSaved.value,
    canUndo: before.value.length > 0,
    change(next) {
      if (sameChoice(next, choice)) return;
      before.value = [...before.value, choice];
      want(next);
    },
    undo() {
      const former = before.value.at(-1);
      if (former === undefined) return;
      before.value = before.value.slice(0, -1);
      want(former);
    },
  };
}
