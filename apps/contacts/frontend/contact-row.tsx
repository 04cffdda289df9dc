// One contact, and what can be done with it.
import type { Contact } from '@platform/sdk/browser';
import { AskFirst } from '../../shared/ask-first.tsx';
import { Person } from '../../shared/person.tsx';
import { nameOf } from './words.ts';

interface ContactRowProps {
  readonly contact: Contact;
  readonly onWrite: () => void;
  readonly onChange: () => void;
  readonly onBlock: () => void;
  readonly onRemove: () => void;
}

export function ContactRow({ contact, ...on }: ContactRowProps) {
  const name = nameOf(contact);
  return (
    <article class="card contact" aria-label={name}>
      <Person address={contact.address} />
      <div class="grow">
        <h2>{name}</h2>
        {contact.label !== '' && <p class="quiet small address">{contact.address}</p>}
        {contact.external && (
          <p class="small">
            <span class="badge">On another server</span>
          </p>
        )}
        {contact.note !== '' && <p class="note">{contact.note}</p>}
        <div class="row actions">
          <button type="button" onClick={on.onWrite} aria-label={`Write to ${name}`}>
            Write
          </button>
          <button type="button" onClick={on.onChange} aria-label={`Change ${name}`}>
            Change
          </button>
          <AskFirst
            word="Block"
            name={name}
            question="Block them? Nothing they write will reach you."
            yes="Yes, block"
            onYes={on.onBlock}
          />
          <AskFirst word="Remove" name={name} question="Remove this contact?" yes="Yes, remove" onYes={on.onRemove} />
        </div>
      </div>
    </article>
  );
}
