// Whom to write to: by address, or somebody of the address book, which the shell shows.
import type { App } from '@platform/sdk/browser';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';

interface NewConversationProps {
  readonly app: App;
  readonly own: string | undefined;
  /** An address to begin with; may be empty. */
  readonly to: string;
  /** @throws Error in words for the person */
  readonly onOpen: (address: string) => Promise<void>;
  readonly onBack: () => void;
}

export function NewConversation({ app, own, to, onOpen, onBack }: NewConversationProps) {
  const [address, setAddress] = useState(to);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    setAddress(to);
    field.current?.focus();
  }, [to]);

  async function trying(work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    await work().catch((error: unknown) =>
      setProblem(error instanceof Error && error.name === 'Error' ? error.message : messageOf(error)),
    );
    setBusy(false);
  }

  return (
    <form
      class="new"
      onSubmit={(event) => {
        event.preventDefault();
        void trying(() => onOpen(address));
      }}
    >
      <div class="thread-head">
        <button type="button" class="back" onClick={onBack} aria-label="Back to the conversations">
          ‹
        </button>
        <h2>New conversation</h2>
      </div>
      <label for={id}>Name or address</label>
      <input
        ref={field}
        id={id}
        type="text"
        value={address}
        maxLength={255}
        required
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        onInput={({ currentTarget }) => setAddress(currentTarget.value)}
      />
      <p class="quiet small">
        Such as <code>ben</code>
        {own !== undefined && (
          <>
            {' '}
            or <code>ben{own.slice(own.indexOf('@'))}</code>
          </>
        )}
        . They see a request, and answer once they accept it.
      </p>
      <Failure text={problem} />
      <div class="row">
        <button type="submit" class="primary" aria-busy={busy} disabled={address.trim() === ''}>
          Write
        </button>
        <button
          type="button"
          onClick={() =>
            void trying(async () => {
              const picked = await app.pickContact();
              if (picked !== null) setAddress(picked.address);
            })
          }
        >
          From contacts
        </button>
      </div>
    </form>
  );
}
