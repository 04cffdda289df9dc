// The question whom of the address book an app may know: the person picks one, and the app learns that one's address and label.
import type { Contact, PickedContact } from '@platform/contract';
import { useEffect, useId, useState } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { call, everyItem } from '../../api/client.ts';
import { Note } from '../../design/controls.tsx';
import { hueOf, letterOf } from '../../design/letter.ts';
import { type Asked, type Asker, ask } from './ask.tsx';
import { AskerLine, Decision } from './parts.tsx';

interface Choice {
  readonly pick: (contact: PickedContact) => void;
}

/** @returns whom the person picked; `null` for nobody */
export async function askForContact(asker: Asker): Promise<PickedContact | null> {
  let picked: PickedContact | null = null;
  const pick: Choice['pick'] = (contact) => {
    picked = contact;
  };
  return (await ask(ContactPick, asker, { pick })) ? picked : null;
}

function ContactPick({ asked }: { readonly asked: Asked & Choice }) {
  const [contacts, setContacts] = useState<readonly Contact[]>();
  const [failure, setFailure] = useState<string>();
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<Contact>();
  const search = useId();
  useEffect(() => {
    everyItem((cursor) => call('account.contacts.list', { query: { limit: 200, cursor } })).then(setContacts, (error) =>
      setFailure(plainMessage(error)),
    );
  }, []);
  const found = contacts?.filter((one) => matches(one, words)).toSorted(byName) ?? [];

  function give(): void {
    if (chosen === undefined) return;
    asked.pick({ address: chosen.address, label: chosen.label });
    asked.answer(true);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="asks for one of your contacts." />
      <h2 id="prompt-title">Choose a contact</h2>
      {failure !== undefined && <Note tone="danger">{failure}</Note>}
      {contacts?.length === 0 && <p>Your address book is empty. Add people in Contacts.</p>}
      {contacts !== undefined && contacts.length > 0 && (
        <>
          <label class="field" for={search}>
            <span>Search</span>
            <input
              id={search}
              type="text"
              value={words}
              onInput={({ currentTarget }) => setWords(currentTarget.value)}
            />
          </label>
          <fieldset class="contact-choice" aria-busy={contacts === undefined}>
            <legend class="only-read">Contacts</legend>
            {found.map((one) => (
              <label key={one.id} class="contact-line">
                <input
                  type="radio"
                  name={`${search}-contact`}
                  checked={chosen?.id === one.id}
                  onChange={() => setChosen(one)}
                />
                <span class="contact-letter" style={{ '--hue': hueOf(one.address) }} aria-hidden="true">
                  {letterOf(nameOf(one).replace(/^@/, ''))}
                </span>
                <span class="contact-words">
                  <strong>{nameOf(one)}</strong>
                  {one.label !== '' && <span class="quiet">{one.address}</span>}
                </span>
              </label>
            ))}
            {found.length === 0 && <p class="quiet">Nobody has this name.</p>}
          </fieldset>
        </>
      )}
      <p>The app learns the address and the name that you gave it, nothing of your other contacts.</p>
      <Decision
        no="Choose nobody"
        yes="Share this contact"
        busy={false}
        disabled={chosen === undefined}
        onNo={() => asked.answer(false)}
        onYes={give}
      />
    </>
  );
}

function nameOf({ label, address }: Contact): string {
  return label === '' ? address : label;
}

function byName(one: Contact, other: Contact): number {
  return nameOf(one).localeCompare(nameOf(other));
}

function matches({ label, address }: Contact, words: string): boolean {
  const sought = words.trim().toLocaleLowerCase();
  return `${label} ${address}`.toLocaleLowerCase().includes(sought);
}
