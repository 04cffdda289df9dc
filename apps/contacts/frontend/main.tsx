// Contacts: the people that the account knows, for all its apps.
import type { App } from '@platform/sdk/browser';
import { useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import { ContactForm } from './contact-form.tsx';
import { ContactRow } from './contact-row.tsx';
import { problemOf, useContacts } from './use-contacts.ts';
import { matches, nameOf } from './words.ts';

startApp(Contacts);

/** Which form is open: none, that of a new contact, or the id of the one that is changed. */
const NEW = 'new';

function Contacts({ app }: { readonly app: App }) {
  const { contacts, failure, ...book } = useContacts(app);
  const [words, setWords] = useKept<string>('words', '');
  const [open, setOpen] = useKept<string>('open', '');
  const [problem, setProblem] = useState<string>();
  const [said, setSaid] = useState('');
  const add = useRef<HTMLButtonElement>(null);
  const identity = useLoaded(app, () => app.messaging().identity());

  async function act(work: () => Promise<unknown>, done: string): Promise<void> {
    setProblem(undefined);
    setSaid('');
    try {
      await work();
      setSaid(done);
    } catch (error) {
      setProblem(problemOf(error));
    }
  }
  const close = () => {
    setOpen('');
    add.current?.focus();
  };

  const found = contacts?.filter((one) => matches(one, words)) ?? [];
  return (
    <main>
      <div class="row between">
        <h1>Contacts</h1>
        <button ref={add} type="button" class="primary" onClick={() => setOpen(NEW)}>
          Add contact
        </button>
      </div>
      {identity.value !== undefined && (
        <p class="quiet">
          Others reach you at <strong class="address">{identity.value.address}</strong>
        </p>
      )}
      <Failure text={problem ?? failure} />
      <p class="only-read" aria-live="polite">
        {said}
      </p>
      {open === NEW && (
        <ContactForm
          contact={undefined}
          onSave={async (entry) => {
            await book.add(entry);
            close();
          }}
          onCancel={close}
        />
      )}
      {contacts !== undefined && contacts.length > 5 && (
        <label class="search">
          <span class="only-read">Search contacts</span>
          <input
            type="search"
            value={words}
            placeholder="Search"
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </label>
      )}
      {contacts?.length === 0 && open !== NEW && (
        <section class="card below stack">
          <p>Nobody here yet.</p>
          <p class="quiet">
            Add people by their name on this platform, such as <code>ben</code>, or by their address, such as{' '}
            <code>@ben:example.org</code>. Apps that ask for a contact get the one you choose, and see nobody else.
          </p>
        </section>
      )}
      <ul class="plain contacts">
        {found.map((contact) => (
          <li key={contact.id}>
            {open === contact.id ? (
              <ContactForm
                contact={contact}
                onSave={async (entry) => {
                  await book.edit(contact.id, entry);
                  close();
                }}
                onCancel={close}
              />
            ) : (
              <ContactRow
                contact={contact}
                onWrite={() => void act(() => book.write(contact), 'Messages opens.')}
                onChange={() => setOpen(contact.id)}
                onBlock={() => void act(() => book.block(contact), `${nameOf(contact)} is blocked.`)}
                onRemove={() => void act(() => book.remove(contact.id), `${nameOf(contact)} was removed.`)}
              />
            )}
          </li>
        ))}
      </ul>
      {contacts !== undefined && contacts.length > 0 && found.length === 0 && (
        <p class="quiet">None of your contacts has these words.</p>
      )}
    </main>
  );
}
