// One conversation: its messages, the answer to a request, and the field to write in.
import type { Conversation, Message } from '@platform/sdk/browser';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { AskFirst } from '../../shared/ask-first.tsx';
import { Failure } from '../../shared/failure.tsx';
import { Person } from '../../shared/person.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { Composer } from './composer.tsx';
import type { UsedMail } from './use-mail.ts';
import { DELETED, dayOf, isElsewhere, otherOf, shortName, timeOf } from './words.ts';

interface ThreadProps {
  readonly mail: UsedMail;
  readonly conversation: Conversation;
  readonly own: string | undefined;
  readonly onBack: () => void;
}

/** So near to the end counts as reading along. */
const NEAR_END = 80;

export function Thread({ mail, conversation, own, onBack }: ThreadProps) {
  const { id, state } = conversation;
  const address = otherOf(conversation);
  const name = shortName(address, own);
  const thread = mail.mail.threads.get(id);
  const outgoing = mail.mail.outgoing.filter(({ conversationId }) => conversationId === id);
  const [problem, setProblem] = useState<string>();
  const scroll = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const { beginning } = mail.mail;
  /** The beginning in which a page is being read. */
  const reading = useRef<number | undefined>(undefined);
  const count = (thread?.messages.length ?? 0) + outgoing.length;

  async function trying(work: () => Promise<void>): Promise<void> {
    setProblem(undefined);
    await work().catch((error: unknown) => setProblem(messageOf(error)));
  }

  /** The height before older messages came, to stay where the person reads. */
  const heightBefore = useRef<number | undefined>(undefined);
  async function readOlder(): Promise<void> {
    if (reading.current === beginning) return;
    reading.current = beginning;
    heightBefore.current = scroll.current?.scrollHeight;
    await trying(() => mail.readMore(id));
    if (reading.current === beginning) reading.current = undefined;
  }

  useEffect(() => {
    void readOlder();
  }, [beginning]);
  useEffect(() => {
    const element = top.current;
    if (element === null || thread?.older === null || thread?.older === undefined) return undefined;
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && void readOlder(), {
      root: scroll.current,
      rootMargin: '300px 0px 0px',
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [thread?.older]);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    if (atEnd.current) element.scrollTop = element.scrollHeight;
    else if (heightBefore.current !== undefined) element.scrollTop += element.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
  }, [count]);
  useEffect(() => {
    // What could not be marked is still unread, and is marked when it is looked at again.
    const read = () => {
      if (document.visibilityState === 'visible' && state !== 'request') void mail.markRead(id).catch(() => undefined);
    };
    read();
    document.addEventListener('visibilitychange', read);
    return () => document.removeEventListener('visibilitychange', read);
  }, [count, state]);

  return (
    <>
      <div class="thread-head">
        <button type="button" class="back" onClick={onBack} aria-label="Back to the conversations">
          ‹
        </button>
        <Person address={address} />
        <div class="grow">
          <h2>{name}</h2>
          {name !== address && <p class="quiet small address">{address}</p>}
          {isElsewhere(address) && (
            <p class="small">
              <span class="badge">On another server</span>
            </p>
          )}
        </div>
        {state !== 'request' && (
          <details class="more">
            <summary aria-label="More">⋯</summary>
            <div class="row">
              <AskFirst
                word="Leave"
                name={name}
                question="Leave? What they write later won’t reach you."
                yes="Yes, leave"
                onYes={() => void trying(() => mail.act('leave', id)).then(onBack)}
              />
              <AskFirst
                word="Block"
                name={name}
                question="Block them? They won’t be told."
                yes="Yes, block"
                onYes={() => void trying(() => mail.act('block', id)).then(onBack)}
              />
            </div>
          </details>
        )}
      </div>
      <div
        ref={scroll}
        class="messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        aria-label={`Messages with ${name}`}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
        }}
      >
        <div ref={top} />
        {thread === undefined && problem === undefined && <p class="quiet">Loading…</p>}
        {thread?.messages.map((message, index) => (
          <Bubble key={message.id} message={message} own={own} before={thread.messages[index - 1]} />
        ))}
        {outgoing.map((one) => (
          <div key={one.transactionId} class="bubble mine pending">
            <p class="words" dir="auto">
              {one.body}
            </p>
            {one.problem === undefined ? (
              <p class="small">Sending…</p>
            ) : (
              <div class="small" role="alert">
                <p class="danger-text">Not sent. {one.problem}</p>
                <div class="row">
                  <button type="button" onClick={() => void mail.sendAgain(one)}>
                    Try again
                  </button>
                  <button type="button" onClick={() => mail.discard(one)}>
                    Discard
                  </button>
                </div>
              </div>
            )}
          </div>
        ))}
      </div>
      <div class="narrow-only">
        <Failure text={mail.failure} />
      </div>
      <Failure text={problem} />
      {address === DELETED ? (
        <p class="quiet small notice">This account was deleted. You can read what was written.</p>
      ) : state === 'request' ? (
        <Request
          name={name}
          onAct={(act) => void trying(() => mail.act(act, id)).then(act === 'accept' ? undefined : onBack)}
        />
      ) : (
        <>
          {state === 'requested' && (
            <p class="quiet small notice">{name} has not accepted yet. Until then you can send up to three messages.</p>
          )}
          <Composer
            conversationId={id}
            name={name}
            onSend={(body) => {
              atEnd.current = true;
              void mail.send(id, body);
            }}
          />
        </>
      )}
    </>
  );
}

function Request({
  name,
  onAct,
}: {
  readonly name: string;
  readonly onAct: (act: 'accept' | 'decline' | 'block') => void;
}) {
  return (
    <div class="request card">
      <p>
        <strong>{name}</strong> wants to write to you. They won’t be told whether you read or declined this.
      </p>
      <div class="row">
        <button type="button" class="primary" onClick={() => onAct('accept')}>
          Accept
        </button>
        <button type="button" onClick={() => onAct('decline')}>
          Decline
        </button>
        <button type="button" class="danger" onClick={() => onAct('block')}>
          Block
        </button>
      </div>
    </div>
  );
}

interface BubbleProps {
  readonly message: Message;
  readonly own: string | undefined;
  readonly before: Message | undefined;
}

function Bubble({ message, own, before }: BubbleProps) {
  const { sender, body, kind, sentAt } = message;
  const mine = sender.address === own;
  const day = dayOf(sentAt);
  return (
    <>
      {(before === undefined || dayOf(before.sentAt) !== day) && <h3 class="day">{day}</h3>}
      <div class={mine ? 'bubble mine' : 'bubble'}>
        <span class="only-read">{mine ? 'You: ' : `${shortName(sender.address, own)}: `}</span>
        <p class={kind === 'text' ? 'words' : 'words unsupported'} dir="auto">
          {body}
        </p>
        <time class="small" dateTime={sentAt}>
          {timeOf(sentAt)}
        </time>
      </div>
    </>
  );
}
