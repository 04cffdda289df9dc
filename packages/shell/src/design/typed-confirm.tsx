// The question before something that cannot be undone: its name, typed. Shown in Settings alone, where no frame is that
// could take the focus and read along.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './controls.tsx';

interface TypedConfirmProps {
  /** To be typed, in any case of its letters. */
  readonly word: string;
  /** What the danger button says. */
  readonly action: string;
  readonly busy: boolean;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
  /** What is lost. */
  readonly children: ComponentChildren;
}

export function TypedConfirm({ word, action, busy, onConfirm, onCancel, children }: TypedConfirmProps) {
  const typed = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const matches = typed.value.trim().toLowerCase() === word.toLowerCase();
  useEffect(() => {
    field.current?.focus();
    field.current?.form?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <form
      class="typed-confirm"
      onSubmit={(event) => {
        event.preventDefault();
        if (matches && !busy) onConfirm();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !busy) onCancel();
      }}
    >
      {children}
      <label for={id}>
        Type <strong>{word}</strong> to confirm
      </label>
      <input
        id={id}
        ref={field}
        type="text"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={80}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <div class="buttons">
        <Button kind="danger" icon="trash" busy={busy} disabled={!matches} onClick={onConfirm}>
          {action}
        </Button>
        <Button disabled={busy} onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
