// The conversations, the latest first: requests that wait for an answer before all others.
import type { Conversation } from '@platform/sdk/browser';
import { Person } from '../../shared/person.tsx';
import { otherOf, shortName, whenShort } from './words.ts';

interface ConversationListProps {
  readonly conversations: readonly Conversation[];
  readonly loaded: boolean;
  readonly own: string | undefined;
  /** The id of the one that is shown. */
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

export function ConversationList({ conversations, loaded, own, open, onOpen }: ConversationListProps) {
  if (!loaded) return <p class="quiet">Loading…</p>;
  if (conversations.length === 0)
    return <p class="quiet">Press “New” to write to somebody by the name they have on this platform.</p>;
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
          <h2 class="group">Requests</h2>
          {lines(requests)}
        </>
      )}
      {others.length > 0 && requests.length > 0 && <h2 class="group">Conversations</h2>}
      {lines(others)}
    </>
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
