// The address book, and what can be done with somebody in it.
import { type App, type Contact, type Conversation, PlatformError } from '@platform/sdk/browser';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';
import { byName, nameOf } from './words.ts';

export interface Entry {
  readonly address: string;
  readonly label: string;
  readonly note: string;
}

const PAGE = 200;
const MESSAGES = 'messages';

const FIELDS: Readonly<Record<string, string>> = {
  label: 'What you call them has a character that cannot be shown, or is too long.',
  note: 'The note has a character that cannot be shown, or is too long.',
};

export function useContacts(app: App) {
  const { value, failure, reload } = useLoaded(app, () => readAll(app));
  async function changing(work: Promise<unknown>): Promise<void> {
    await work;
    await reload();
  }
  return {
    contacts: value,
    failure,
    add: (entry: Entry) => changing(app.bridge.call('contacts.add', entry)),
    edit: (id: string, { label, note }: Entry) => changing(app.bridge.call('contacts.edit', { id, label, note })),
    remove: (id: string) => changing(app.bridge.call('contacts.remove', { id })),
    write: ({ address }: Contact) => app.apps.open(MESSAGES, `?to=${encodeURIComponent(address)}`),
    /** Somebody is blocked in the conversation with them. */
    async block(contact: Contact): Promise<void> {
      const conversation = await findConversation(app, contact.address);
      if (conversation === undefined)
        throw new Error(
          `There is no conversation with ${nameOf(contact)}. You can decline or block when they write to you.`,
        );
      await app.messaging().block(conversation.id);
    },
  };
}

export function problemOf(error: unknown): string {
  if (!(error instanceof PlatformError)) return error instanceof Error ? error.message : messageOf(error);
  // The platform names members of the request, which people do not see.
  const field = error.code === 'invalid_request' ? FIELDS[error.errors[0]?.path ?? ''] : undefined;
  return field ?? messageOf(error);
}

async function readAll(app: App): Promise<Contact[]> {
  const contacts: Contact[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await app.bridge.call(
      'contacts.list',
      cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor },
    );
    contacts.push(...page.items);
    if (page.nextCursor === null) return contacts.toSorted(byName);
    cursor = page.nextCursor;
  }
}

async function findConversation(app: App, address: string): Promise<Conversation | undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await app.messaging().conversations(cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor });
    const found = page.items.find(({ participants }) => participants.some((one) => one.address === address));
    if (found !== undefined || page.nextCursor === null) return found;
    cursor = page.nextCursor;
  }
}
