// Messages: conversations with people, beside each other on a desktop and one after the other on a phone.
import type { App } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import { ConversationList } from './conversation-list.tsx';
import { useFoundBySearch } from './found-by-search.ts';
import { listed } from './mail.ts';
import { NewConversation } from './new-conversation.tsx';
import { Thread } from './thread.tsx';
import { useMail } from './use-mail.ts';

startApp(Messages);

/** In the place of the id of a conversation: the form for a new one. */
const NEW = 'new';

function Messages({ app }: { readonly app: App }) {
  const mail = useMail(app);
  const identity = useLoaded(app, mail.identity);
  const [open, setOpen] = useKept<string>('open', '');
  const [to, setTo] = useState('');
  const own = identity.value?.address;
  /** Who the account is, is not known while the bridge is away. */
  const isUnknown = identity.value === undefined && identity.failure !== undefined;
  useEffect(() => {
    if (isUnknown && mail.loaded) void identity.reload();
  }, [isUnknown, mail.loaded]);

  /** A notification, a search result or Contacts opened the app with whom or what to show. */
  useEffect(() => {
    const go = (target: string | null) => {
      const asked = new URLSearchParams(target ?? '');
      const conversation = asked.get('conversation');
      if (conversation !== null) setOpen(conversation);
      else if (asked.get('to') !== null) {
        setTo(asked.get('to') ?? '');
        setOpen(NEW);
      }
    };
    go(app.context.target ?? null);
    return app.on('target', ({ target }) => go(target));
  }, []);

  const conversations = listed(mail.mail);
  useFoundBySearch(app, { conversations, own, loaded: mail.loaded, heard: mail.heard });
  const shown = mail.mail.conversations.get(open);
  const isOpen = open === NEW || (shown !== undefined && shown.state !== 'left');
  return (
    <main class={isOpen ? 'mail has-open' : 'mail'}>
      <section class="side" aria-label="Conversations">
        <div class="row between head">
          <h1>Messages</h1>
          <button
            type="button"
            class="primary"
            onClick={() => {
              setTo('');
              setOpen(NEW);
            }}
          >
            New
          </button>
        </div>
        <Failure text={mail.failure ?? (mail.loaded ? undefined : identity.failure)} />
        <ConversationList
          conversations={conversations}
          loaded={mail.loaded}
          isWaiting={mail.failure !== undefined || identity.failure !== undefined}
          own={own}
          open={isOpen ? open : ''}
          hasOlder={mail.mail.older !== null && mail.mail.older !== undefined}
          onOpen={setOpen}
          onOlder={mail.listMore}
          onDeclineAll={mail.declineAll}
        />
      </section>
      <section class="stage" aria-label={open === NEW ? 'New conversation' : 'Conversation'}>
        {open === NEW && (
          <NewConversation
            app={app}
            own={own}
            to={to}
            onOpen={async (address) => setOpen(await mail.open(address))}
            onBack={() => setOpen('')}
          />
        )}
        {shown !== undefined && isOpen && (
          <Thread key={shown.id} mail={mail} conversation={shown} own={own} onBack={() => setOpen('')} />
        )}
        {!isOpen && <Nothing empty={mail.loaded && conversations.length === 0} own={own} />}
      </section>
    </main>
  );
}

function Nothing({ empty, own }: { readonly empty: boolean; readonly own: string | undefined }) {
  return (
    <div class="nothing">
      <p>{empty ? 'Nobody has written yet.' : 'Choose a conversation.'}</p>
      {own !== undefined && (
        <p class="quiet">
          People reach you at <strong>{own}</strong>
        </p>
      )}
    </div>
  );
}
