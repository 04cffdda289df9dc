// The field to write in. What is not sent yet is kept for each conversation, also when the app is left.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKept } from '../../shared/kept.ts';
import type { Message } from './agent-api.ts';

interface ComposerProps {
  /** By which what is not sent is kept. */
  readonly draftOf: string;
  /** What keeps it from being sent, besides nothing written. */
  readonly isBusy: boolean;
  /** A turn is under way: the button stops it. */
  readonly onStop?: (() => void) | undefined;
  /** @returns whether it was taken; otherwise it stays in the field, and is sent again with the same id */
  readonly onSend: (said: Message) => Promise<boolean>;
  /** Of a message that was sent before the page was loaded anew. @returns whether the agent has it */
  readonly wasTaken: (message: string) => Promise<boolean>;
}

const MOST_BYTES = 32 * 1024;
/** From here on the person sees how much room is left. */
const NEARLY = MOST_BYTES - 2_000;

export function Composer({ draftOf, isBusy, onStop, onSend, wasTaken }: ComposerProps) {
  const [draft, setDraft] = useKept<string>(`draft ${draftOf}`, '');
  /** Of the draft, once it was sent. Kept with it: the page may be loaded anew before anybody knows what became of it. */
  const [message, setMessage] = useKept<string>(`message ${draftOf}`, '');
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const size = new TextEncoder().encode(draft).length;
  const sendable = draft.trim() !== '' && size <= MOST_BYTES && !isBusy && !isSending && onStop === undefined;
  useEffect(() => {
    // A keyboard that opens by itself would cover half of a phone.
    if (matchMedia('(hover: hover)').matches) field.current?.focus();
    let isOver = false;
    if (message !== '') void wasTaken(message).then((taken) => taken && !isOver && clear());
    return () => {
      isOver = true;
    };
  }, []);

  function clear(): void {
    setDraft('');
    setMessage('');
  }

  async function send(): Promise<void> {
    if (!sendable) return;
    const id = message === '' ? crypto.randomUUID() : message;
    setMessage(id);
    setSending(true);
    // What a clipboard may hold, and no message can.
    const taken = await onSend({ text: draft.trim().replaceAll('\0', '').toWellFormed(), message: id });
    if (taken) clear();
    setSending(false);
    field.current?.focus();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label class="grow">
        <span class="only-read">Message to your agent</span>
        <textarea
          ref={field}
          // Shown above meanwhile, and back here if it was not taken.
          value={isSending ? '' : draft}
          readOnly={isSending}
          rows={1}
          placeholder="Write to your agent"
          dir="auto"
          onInput={({ currentTarget }) => {
            setDraft(currentTarget.value);
            // Other words are another message.
            if (message !== '') setMessage('');
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
      </label>
      {onStop === undefined ? (
        <button type="submit" class="primary" disabled={!sendable}>
          {isSending ? 'Sending…' : 'Send'}
        </button>
      ) : (
        <button type="button" class="danger" onClick={onStop}>
          Stop
        </button>
      )}
      {size > NEARLY && (
        <p class={size > MOST_BYTES ? 'danger-text small room' : 'quiet small room'} role="status">
          {size > MOST_BYTES
            ? 'This is longer than your agent can take. Send it in parts.'
            : 'This is nearly as long as your agent can take.'}
        </p>
      )}
    </form>
  );
}
