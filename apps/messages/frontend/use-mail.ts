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
  withNews,
  withOutgoing,
  withoutOutgoing,
  withPage,
  withSent,
} from './mail.ts';

const PAGE = 50;

export function useMail(app: App) {
  const service = useRef(app.messaging()).current;
  const [mail, setMail] = useState<Mail>(EMPTY);
  const [loaded, setLoaded] = useState(false);
  const [failure, setFailure] = useState<string>();
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
      for await (const { conversations, messages, restarted } of service.news({ signal })) {
        setMail((before) =>
          withNews(withConversations(restarted ? begunAnew(before) : before, conversations), messages),
        );
        setLoaded(true);
        setFailure(undefined);
      }
    }
  }, [service]);

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
    identity: () => service.identity(),
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
