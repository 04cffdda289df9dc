// The conversations, the latest first: requests that wait for an answer before all others.
import type { Conversation } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { AskFirst } from '../../shared/ask-first.tsx';
import { Failure } from '../../shared/failure.tsx';
import { Person } from '../../shared/person.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { isElsewhere, otherOf, shortName, whenShort } from './words.ts';

interface ConversationListProps {
  readonly conversations: readonly Conversation[];
  readonly loaded: boolean;
  /** Not loaded for a reason that the person reads elsewhere. */
  readonly isWaiting: boolean;
  readonly own: string | undefined;
  /** The id of the one that is shown. */
  readonly open: string;
  /** There are more, which were not listed yet. */
  readonly hasOlder: boolean;
  readonly onOpen: (id: string) => void;
  readonly onOlder: () => Promise<unknown>;
  readonly onDeclineAll: (ids: readonly string[], onDone: (count: number) => void) => Promise<void>;
}

/** From so many on they are declined together, and only some are shown at first. */
const MANY_REQUESTS = 4;

export function ConversationList({ conversations, loaded, own, open, onOpen, ...list }: ConversationListProps) {
  const [allRequests, setAllRequests] = useState(false);
  if (!loaded && list.isWaiting) return null;
  if (!loaded) return <p class="quiet">{own === undefined ? 'Preparing your address…' : 'Loading…'}</p>;
  if (conversations.length === 0)
    return (
      <>
        <p class="quiet">Press “New” to write to somebody.</p>
        {own !== undefined && (
          <p class="quiet narrow-only">
            People reach you at <strong class="address">{own}</strong>
          </p>
        )}
      </>
    );
  const requests = conversations.filter(({ state }) => state === 'request');
  const others = conversations.filter(({ state }) => state !== 'request');
  const lines = (some: readonly Conversation[]) => (
    <ul class="plain lines">
      {some.map((one) => (
        <li key={one.id}>
          <Line conversation={one} own={own} isOpen={one.id === open} onOpen={() => onOpen(one.id)} />
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {requests.length > 0 && (
        <>
          <h2 class="group">{requests.length < MANY_REQUESTS ? 'Requests' : `Requests (${requests.length})`}</h2>
          {lines(allRequests ? requests : requests.slice(0, MANY_REQUESTS))}
          {requests.length >= MANY_REQUESTS && (
            <ManyRequests
              requests={requests}
              isAll={allRequests}
              onAll={() => setAllRequests(true)}
              onDeclineAll={list.onDeclineAll}
            />
          )}
        </>
      )}
      {others.length > 0 && requests.length > 0 && <h2 class="group">Conversations</h2>}
      {lines(others)}
      {list.hasOlder && (
        <button type="button" onClick={() => void list.onOlder().catch(() => undefined)}>
          Show older conversations
        </button>
      )}
    </>
  );
}

interface ManyRequestsProps {
  readonly requests: readonly Conversation[];
  readonly isAll: boolean;
  readonly onAll: () => void;
  readonly onDeclineAll: ConversationListProps['onDeclineAll'];
}

/** Somebody whom many strangers write to can be rid of them at once. */
function ManyRequests({ requests, isAll, onAll, onDeclineAll }: ManyRequestsProps) {
  const [done, setDone] = useState<{ readonly count: number; readonly of: number }>();
  const [problem, setProblem] = useState<string>();
  async function decline(): Promise<void> {
    const ids = requests.map(({ id }) => id);
    setProblem(undefined);
    setDone({ count: 0, of: ids.length });
    await onDeclineAll(ids, (count) => setDone({ count, of: ids.length })).catch((error: unknown) =>
      setProblem(messageOf(error)),
    );
    setDone(undefined);
  }
  return (
    <div class="many-requests">
      {done === undefined ? (
        <div class="row">
          {!isAll && requests.length > MANY_REQUESTS && (
            <button type="button" onClick={onAll}>
              Show all {requests.length}
            </button>
          )}
          <AskFirst
            word="Decline all"
            name="requests"
            question={`Decline ${requests.length} requests? Nobody is told.`}
            yes="Yes, decline"
            onYes={() => void decline()}
          />
        </div>
      ) : (
        <p class="quiet small" role="status">
          Declining {done.count} of {done.of}…
        </p>
      )}
      <Failure text={problem} />
    </div>
  );
}

interface LineProps {
  readonly conversation: Conversation;
  readonly own: string | undefined;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function Line({ conversation, own, isOpen, onOpen }: LineProps) {
  const { unread, state, lastMessageAt, createdAt } = conversation;
  const address = otherOf(conversation);
  return (
    <button type="button" class="line" aria-current={isOpen ? 'true' : undefined} onClick={onOpen}>
      <Person address={address} />
      <span class="line-words">
        <span class="line-name">{shortName(address, own)}</span>
        {isElsewhere(address) && <span class="quiet small">On another server</span>}
        {state === 'requested' && <span class="quiet small">Not accepted yet</span>}
        {state === 'request' && <span class="quiet small">Wants to write to you</span>}
      </span>
      <span class="line-facts">
        <time class="quiet small" dateTime={lastMessageAt ?? createdAt}>
          {whenShort(lastMessageAt ?? createdAt)}
        </time>
        {unread > 0 && (
          <span class="count">
            {unread > 99 ? '99+' : unread}
            <span class="only-read"> unread</span>
          </span>
        )}
      </span>
    </button>
  );
}
