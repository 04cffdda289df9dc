// The person's mail: it follows the news while the app is open, reads pages as they are looked at, and sends.
import { type App, type Conversation, PlatformError } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../shared/use-loaded.ts';
import {
  begunAnew,
  EMPTY,
  type Mail,
  type Outgoing,
  withConversations,
  withListed,
  withNews,
  withOutgoing,
  withoutOutgoing,
  withPage,
  withSent,
} from './mail.ts';

const PAGE = 50;
const IDENTITY_MS = 20_000;
/** Conversations that are listed at the beginning; the news begin with fewer. */
const LISTED = 1_000;
const LIST_PAGE = 200;

export function useMail(app: App) {
  const service = useRef(app.messaging()).current;
  const [mail, setMail] = useState<Mail>(EMPTY);
  const [loaded, setLoaded] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [heard, setHeard] = useState(0);
  const latest = useRef(mail);
  latest.current = mail;

  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    follow().catch((error: unknown) => {
      if (!signal.aborted) setFailure(messageOf(error));
    });
    return () => ending.abort();

    async function follow(): Promise<void> {
      const waitsOut = (error: PlatformError | null) =>
        setFailure(error === null ? undefined : `${messageOf(error)} Messages tries again by itself.`);
      for await (const { conversations, messages, restarted } of service.news({ signal, waitsOut })) {
        setMail((before) =>
          withNews(withConversations(restarted ? begunAnew(before) : before, conversations), messages),
        );
        setLoaded(true);
        setHeard((before) => before + 1);
        setFailure(undefined);
      }
    }
  }, [service]);

  /** The next page of the list. @returns how many are listed now, or `null` after the last page */
  async function listMore(): Promise<number | null> {
    const asked = latest.current;
    if (asked.older === null) return null;
    const cursor = asked.older === undefined ? {} : { cursor: asked.older };
    const page = await service.conversations({ limit: LIST_PAGE, ...cursor });
    // The next call goes on from here, drawn or not.
    latest.current = withListed(latest.current, asked, page);
    setMail((before) => withListed(before, asked, page));
    return page.nextCursor === null ? null : latest.current.conversations.size;
  }
  const { beginning } = mail;
  useEffect(() => {
    if (!loaded) return undefined;
    let isOver = false;
    const listing = async () => {
      while (!isOver) {
        const count = await listMore();
        if (count === null || count >= LISTED) return;
      }
    };
    listing().catch((error: unknown) => !isOver && setFailure(messageOf(error)));
    return () => {
      isOver = true;
    };
  }, [loaded, beginning]);

  const changed = (conversation: Conversation) => setMail((before) => withConversations(before, [conversation]));

  async function send(one: Outgoing): Promise<void> {
    const { transactionId, conversationId, body } = one;
    setMail((before) => withOutgoing(before, { transactionId, conversationId, body }));
    try {
      const message = await service.send(conversationId, body, { transactionId });
      setMail((before) => withSent(before, transactionId, message));
    } catch (error) {
      setMail((before) => withOutgoing(before, { ...one, problem: messageOf(error) }));
    }
  }

  return {
    mail,
    loaded,
    failure,
    heard,
    listMore,
    /** Not for as long as the platform is away: the news say that. */
    identity: () => service.identity({ timeoutMilliseconds: IDENTITY_MS }),
    /** The conversation with somebody. @throws Error in words for the person */
    async open(address: string): Promise<string> {
      try {
        const conversation = await service.direct(address);
        changed(conversation);
        return conversation.id;
      } catch (error) {
        throw new Error(error instanceof PlatformError ? error.detail : messageOf(error));
      }
    },
    async act(act: 'accept' | 'decline' | 'leave' | 'block', conversationId: string): Promise<void> {
      changed(await service[act](conversationId));
    },
    /** Requests, one after the other. @param onDone gets how many are done. */
    async declineAll(conversationIds: readonly string[], onDone: (count: number) => void): Promise<void> {
      for (const [index, id] of conversationIds.entries()) {
        changed(await service.decline(id));
        onDone(index + 1);
      }
    },
    /** The newest page of a thread, or the one before what is there. */
    async readMore(conversationId: string): Promise<void> {
      const asked = latest.current;
      const cursor = asked.threads.get(conversationId)?.older;
      if (cursor === null) return;
      const page = await service.messages(
        conversationId,
        cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor },
      );
      setMail((before) => withPage(before, asked, conversationId, page));
    },
    /** What was looked at is read. */
    async markRead(conversationId: string): Promise<void> {
      const newest = latest.current.threads.get(conversationId)?.messages.at(-1);
      if (newest !== undefined && latest.current.conversations.get(conversationId)?.unread !== 0)
        changed(await service.read(conversationId, newest.id));
    },
    send: (conversationId: string, body: string) => send({ transactionId: crypto.randomUUID(), conversationId, body }),
    /** Under the same transaction: it is there once, even where only the answer was lost. */
    sendAgain: send,
    discard: ({ transactionId }: Outgoing) => setMail((before) => withoutOutgoing(before, transactionId)),
  };
}

export type UsedMail = ReturnType<typeof useMail>;
