// The conversations, the latest first, and a search over what was said in them.
import type { AgentSession } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { messageOf } from '../../shared/use-loaded.ts';
import type { FoundSession } from './agent-api.ts';
import { nameOf } from './profile-words.ts';
import type { UsedAgent } from './use-agent.ts';
import { whenShort } from './words.ts';

const TYPING_MS = 250;

interface SessionListProps {
  readonly agent: UsedAgent;
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

export function SessionList({ agent, open, onOpen }: SessionListProps) {
  const { sessions } = agent;
  const [words, setWords] = useKept<string>('words', '');
  const found = useFound(agent, words.trim());
  const profiles = agent.profiles.value ?? [];
  if (sessions.value === undefined)
    return sessions.failure === undefined ? <p class="quiet">Your agent wakes up…</p> : null;
  if (sessions.value.length === 0) return <p class="quiet">Nothing was said yet.</p>;
  const items = found.items === undefined ? sessions.value : present(found.items, sessions.value);
  return (
    <>
      <label class="search">
        <span class="only-read">Search conversations</span>
        <input
          type="search"
          value={words}
          placeholder="Search"
          maxLength={200}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </label>
      <p class="only-read" role="status">
        {found.items === undefined ? '' : found.items.length === 0 ? 'Nothing found.' : `${found.items.length} found.`}
      </p>
      <Failure text={found.problem} />
      {items.length === 0 && <p class="quiet">No conversation has these words.</p>}
      <ul class="plain lines">
        {items.map((session) => (
          <li key={session.id}>
            <button
              type="button"
              class="line"
              aria-current={session.id === open ? 'true' : undefined}
              onClick={() => onOpen(session.id)}
            >
              <span class="line-words">
                <span class="line-name" dir="auto">
                  {session.title === '' ? 'Without a title' : session.title}
                </span>
                {'match' in session && session.match !== null && (
                  <span class="quiet small excerpt" dir="auto">
                    {session.match.excerpt}
                  </span>
                )}
                {profiles.length > 1 && <span class="quiet small">{nameOf(session.profile, profiles)}</span>}
              </span>
              <span class="line-facts">
                <time class="quiet small" dateTime={session.updatedAt}>
                  {whenShort(session.updatedAt)}
                </time>
                {session.state === 'running' && <span class="badge good">At work</span>}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {found.complete === false && (
        <p class="quiet small">Not all older conversations were searched. Use rarer words to find more.</p>
      )}
    </>
  );
}

interface Found {
  /** `undefined` while nothing is searched. */
  readonly items?: readonly FoundSession[];
  readonly complete?: boolean;
  readonly problem?: string;
}

/** What was found, as the list has it now: titles and states change while the words stay the same. */
function present(
  found: readonly FoundSession[],
  sessions: readonly AgentSession[],
): readonly (AgentSession | FoundSession)[] {
  return found.flatMap((one) => {
    const now = sessions.find(({ id }) => id === one.id);
    return now === undefined ? [] : [{ ...one, ...now }];
  });
}

/** Searches when the words change, and not at every event: the agent reads all that was said for each search. */
function useFound({ api }: UsedAgent, words: string): Found {
  const [found, setFound] = useState<Found>({});
  useEffect(() => {
    if (words === '') {
      setFound({});
      return undefined;
    }
    const over = new AbortController();
    const timer = setTimeout(() => {
      api.search(words, over.signal).then(
        (answer) => over.signal.aborted || setFound(answer),
        (error: unknown) => over.signal.aborted || setFound({ problem: messageOf(error) }),
      );
    }, TYPING_MS);
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [words]);
  return found;
}
