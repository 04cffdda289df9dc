// A new contact, or what the person calls one and notes of it. The address of a contact stays what it is.
import type { Contact } from '@platform/sdk/browser';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { type Entry, problemOf } from './use-contacts.ts';

interface ContactFormProps {
  readonly contact: Contact | undefined;
  readonly onSave: (entry: Entry) => Promise<void>;
  readonly onCancel: () => void;
}

export function ContactForm({ contact, onSave, onCancel }: ContactFormProps) {
  const [entry, setEntry] = useState<Entry>(contact ?? { address: '', label: '', note: '' });
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  useEffect(() => form.current?.querySelector('input')?.focus(), []);

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    await onSave(entry).catch((error: unknown) => setProblem(problemOf(error)));
    setBusy(false);
  }

  return (
    <form
      ref={form}
      class="card below contact-form"
      aria-label={contact === undefined ? 'New contact' : 'Change contact'}
      onSubmit={save}
    >
      {contact === undefined ? (
        <label for={`${id}-address`}>
          <span>Name or address</span>
          <input
            id={`${id}-address`}
            type="text"
            value={entry.address}
            maxLength={255}
            required
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            aria-describedby={`${id}-help`}
            onInput={({ currentTarget }) => setEntry({ ...entry, address: currentTarget.value })}
          />
          <span class="quiet small" id={`${id}-help`}>
            Such as ben, ben@example.com or @ben:example.org
          </span>
        </label>
      ) : (
        <p class="address">{contact.address}</p>
      )}
      <label for={`${id}-label`}>
        <span>What you call them</span>
        <input
          id={`${id}-label`}
          type="text"
          value={entry.label}
          maxLength={100}
          autoComplete="off"
          onInput={({ currentTarget }) => setEntry({ ...entry, label: currentTarget.value })}
        />
      </label>
      <label for={`${id}-note`}>
        <span>Note</span>
        <textarea
          id={`${id}-note`}
          value={entry.note}
          maxLength={1000}
          rows={3}
          onInput={({ currentTarget }) => setEntry({ ...entry, note: currentTarget.value })}
        />
      </label>
      <Failure text={problem} />
      <div class="row">
        <button type="submit" class="primary" aria-busy={busy}>
          {contact === undefined ? 'Add' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
