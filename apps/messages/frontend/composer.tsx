// The field to write in. What is not sent yet is kept for each conversation, also when the app is left.
import { useEffect, useRef } from 'preact/hooks';
import { useKept } from '../../shared/kept.ts';

interface ComposerProps {
  readonly conversationId: string;
  readonly name: string;
  readonly onSend: (body: string) => void;
}

const MOST = 16_384;
/** From here on the person sees how much room is left. */
const NEARLY = MOST - 1_000;

export function Composer({ conversationId, name, onSend }: ComposerProps) {
  const [draft, setDraft] = useKept<string>(`draft ${conversationId}`, '');
  const field = useRef<HTMLTextAreaElement>(null);
  const length = [...draft].length;
  const sendable = draft.trim() !== '' && length <= MOST;
  useEffect(() => {
    // A keyboard that opens by itself would cover half of a phone.
    if (matchMedia('(hover: hover)').matches) field.current?.focus();
  }, []);

  function send(): void {
    if (!sendable) return;
    // What a clipboard may hold, and no message can.
    onSend(draft.trim().replaceAll('\0', '').toWellFormed());
    setDraft('');
    field.current?.focus();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="grow">
        <span class="only-read">Message to {name}</span>
        <textarea
          ref={field}
          value={draft}
          rows={1}
          placeholder="Message"
          dir="auto"
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={!sendable}>
        Send
      </button>
      {length > NEARLY && (
        <p class={length > MOST ? 'danger-text small room' : 'quiet small room'} role="status">
          {(MOST - length).toLocaleString()} characters left
        </p>
      )}
    </form>
  );
}
