// What the person and the agent said, and how a turn ended.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Markdown } from './markdown.tsx';
import type { UserItem } from './thread.ts';

interface SaidProps {
  readonly item: UserItem;
  /** Writes it anew in a conversation that begins before it. @returns whether the agent took it */
  readonly onAnew: ((text: string) => Promise<boolean>) | undefined;
}

export function Said({ item, onAnew }: SaidProps) {
  const [isEditing, setEditing] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isEditing) field.current?.focus();
  }, [isEditing]);
  // What was written stays also while it cannot be sent.
  if (isEditing)
    return (
      <form
        class="bubble mine editing"
        onSubmit={(event) => {
          event.preventDefault();
          const text = String(new FormData(event.currentTarget).get('text') ?? '').trim();
          if (text !== '') void onAnew?.(text).then((taken) => setEditing(!taken));
        }}
      >
        <label>
          <span class="only-read">Your message, written anew</span>
          <textarea name="text" defaultValue={item.text} rows={3} dir="auto" ref={field} />
        </label>
        <p class="quiet small">It begins a conversation of its own. This one stays as it is.</p>
        <div class="row">
          <button type="submit" class="primary" disabled={onAnew === undefined}>
            Send anew
          </button>
          <button type="button" onClick={() => setEditing(false)}>
            Cancel
          </button>
        </div>
      </form>
    );
  return (
    <div class="bubble mine">
      <span class="only-read">You: </span>
      <p class="words" dir="auto">
        {item.text}
      </p>
      {onAnew !== undefined && (
        <button type="button" class="slim edit" onClick={() => setEditing(true)}>
          Edit
          <span class="only-read"> this message and send it anew</span>
        </button>
      )}
    </div>
  );
}

/** On its way. */
export function Pending({ text }: { readonly text: string }) {
  return (
    <div class="bubble mine pending">
      <p class="words" dir="auto">
        {text}
      </p>
      <p class="small">Sending…</p>
    </div>
  );
}

export function Answer({ text, isPartial }: { readonly text: string; readonly isPartial: boolean }) {
  return (
    <div class={isPartial ? 'answer partial' : 'answer'}>
      <span class="only-read">Your agent: </span>
      <Markdown text={text} />
    </div>
  );
}

interface EndProps {
  readonly reason: 'cancelled' | 'limit';
  readonly asks: string | undefined;
  readonly onGoOn: (() => void) | undefined;
}

export function End({ reason, asks, onGoOn }: EndProps) {
  if (reason === 'cancelled') return <p class="quiet small end">You stopped this.</p>;
  return (
    <div class="end card">
      <p>{asks ?? 'The agent stopped at its limit.'}</p>
      {onGoOn !== undefined && (
        <button type="button" onClick={onGoOn}>
          Go on
        </button>
      )}
    </div>
  );
}
