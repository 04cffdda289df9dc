// One conversation: what was said and done, and the field to write in.
import type { App } from '@platform/sdk/browser';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import type { Message } from './agent-api.ts';
import { AiLine } from './ai-line.tsx';
import { Composer } from './composer.tsx';
import type { Begun } from './main.tsx';
import { useMessageIds } from './message-ids.ts';
import { Answer, End, Pending, Said } from './messages.tsx';
import { ProblemCard } from './problem-card.tsx';
import { MAIN, nameOf } from './profile-words.ts';
import { SessionHead } from './session-head.tsx';
import { type Item, itemsOf, lastTurn, type UserItem } from './thread.ts';
import { ToolCard } from './tool-card.tsx';
import type { UsedAgent } from './use-agent.ts';
import { useSession } from './use-session.ts';

interface SessionViewProps {
  readonly app: App;
  readonly agent: UsedAgent;
  readonly id: string;
  readonly onBegin: (begun: Begun) => Promise<boolean>;
  readonly onRemove: () => Promise<void>;
  readonly onBack: () => void;
}

/** So near to the end counts as reading along. */
const NEAR_END = 80;

export function SessionView({ app, agent, id, onBegin, onRemove, onBack }: SessionViewProps) {
  const session = useSession(agent.api, id, agent.reload);
  const { card, thread, outgoing } = session;
  const { isRunning } = thread;
  const items = useMemo(() => itemsOf(thread), [thread]);
  const { asked, isUnanswered } = lastTurn(thread);
  const profiles = agent.profiles.value ?? [];
  const profile = profiles.find((one) => one.id === card?.profile);
  const isDeleted = agent.profiles.value !== undefined && card !== undefined && profile === undefined;
  const ids = useMessageIds();
  const [isBranching, setBranching] = useState(false);
  const scroll = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  /** The height before earlier events came, to stay where the person reads. */
  const heightBefore = useRef<number | undefined>(undefined);

  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null || heightBefore.current === undefined) return;
    element.scrollTop += element.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
  }, [items]);
  useLayoutEffect(() => {
    if (inner.current === null) return undefined;
    // Whatever grows: an answer, or a card that learns what became of a proposal.
    const watch = new ResizeObserver(() => {
      if (atEnd.current) scroll.current?.scrollTo({ top: scroll.current.scrollHeight });
    });
    watch.observe(inner.current);
    return () => watch.disconnect();
  }, []);

  async function readEarlier(): Promise<void> {
    heightBefore.current = scroll.current?.scrollHeight;
    await session.readEarlier();
  }

  function say(said: Message): Promise<boolean> {
    atEnd.current = true;
    return session.say(said);
  }

  /** As often as it is tried, it is one message until the agent has taken it. */
  async function once(matter: string, send: (message: string) => Promise<boolean>): Promise<boolean> {
    const taken = await send(ids.of(matter));
    if (taken) ids.taken(matter);
    return taken;
  }

  function sayAgain(text: string): Promise<boolean> {
    return once(`${thread.events.at(-1)?.sequence} ${text}`, (message) => say({ text, message }));
  }

  /** In a conversation of its own: this one stays as it is. */
  async function branch({ sequence }: UserItem, text: string): Promise<boolean> {
    setBranching(true);
    // One whose agent was deleted goes on with the one that is always there.
    const to = { profile: isDeleted ? MAIN : undefined, branch: { session: id, sequence } };
    const begun = await once(`${sequence} ${text}`, (message) => onBegin({ text, message, ...to }));
    setBranching(false);
    return begun;
  }

  const canChange = !isRunning && !isBranching && outgoing === undefined;
  const goOn = () => void sayAgain('Go on.');
  const draw = (item: Item, index: number) => {
    const isLast = index === items.length - 1;
    if (item.kind === 'user')
      return <Said key={item.key} item={item} onAnew={canChange ? (text) => branch(item, text) : undefined} />;
    if (item.kind === 'answer') return <Answer key={item.key} text={item.text} isPartial={item.isPartial} />;
    if (item.kind === 'tool') return <ToolCard key={item.key} app={app} item={item} tools={agent.tools} />;
    if (item.kind === 'failed') return <ProblemCard key={item.key} app={app} problem={item.error} />;
    return <End key={item.key} reason={item.reason} asks={item.asks} onGoOn={canChange && isLast ? goOn : undefined} />;
  };

  return (
    <>
      <SessionHead
        title={card?.title ?? ''}
        profile={card === undefined || profiles.length < 2 ? undefined : nameOf(card.profile, profiles)}
        canRemove={!isRunning}
        onRename={session.rename}
        onRemove={onRemove}
        onBack={onBack}
      />
      <div
        ref={scroll}
        class="messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        // What is being written is read out when it is whole.
        aria-live="off"
        aria-label="What was said"
        aria-busy={isRunning}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
        }}
      >
        <div ref={inner} class="said">
          {card === undefined && session.problem === undefined && <p class="quiet">Your agent wakes up…</p>}
          {thread.earlier && (
            <button type="button" class="earlier" onClick={() => void readEarlier()}>
              Show what was said before
            </button>
          )}
          {items.map(draw)}
          {outgoing !== undefined && <Pending text={outgoing} />}
          {isRunning && outgoing === undefined && <AtWork items={items} />}
          {canChange && asked !== undefined && card !== undefined && (
            <p class="row again">
              <button
                type="button"
                class="slim"
                onClick={() => void (isUnanswered && !isDeleted ? sayAgain(asked.text) : branch(asked, asked.text))}
              >
                {isUnanswered && !isDeleted ? 'Try again' : 'Answer again'}
              </button>
            </p>
          )}
        </div>
      </div>
      <Announcer items={items} isRunning={isRunning} />
      {session.isAway && (
        <p class="quiet small notice" role="status">
          The connection broke. It is made again by itself.
        </p>
      )}
      <Failure text={session.problem} />
      {isDeleted && (
        <p class="small notice" role="status">
          The agent of this conversation was deleted. Edit a message or let it be answered again to go on with{' '}
          {nameOf(MAIN, profiles)}.
        </p>
      )}
      <AiLine agent={agent} profile={profile} />
      <Composer
        draftOf={id}
        isBusy={isDeleted || (!canChange && !isRunning)}
        onStop={isRunning ? () => void session.stop() : undefined}
        onSend={say}
        wasTaken={session.wasTaken}
      />
    </>
  );
}

/** While nothing else shows that something happens. */
function AtWork({ items }: { readonly items: readonly Item[] }) {
  const last = items.at(-1);
  if (last?.kind === 'answer' && last.isPartial) return null;
  if (last?.kind === 'tool' && last.result === undefined) return null;
  return <p class="quiet at-work">Your agent thinks…</p>;
}

/** Says to screen readers what is new, an answer as a whole. */
function Announcer({ items, isRunning }: { readonly items: readonly Item[]; readonly isRunning: boolean }) {
  const [said, setSaid] = useState('');
  const known = useRef<number | undefined>(undefined);
  const whole = items.filter((item) => item.kind !== 'answer' || !item.isPartial);
  useEffect(() => {
    // What was there before is not news.
    if (known.current !== undefined && whole.length > known.current) {
      const last = whole.at(-1);
      if (last?.kind === 'answer') setSaid(`Your agent: ${last.text}`);
      else if (last?.kind === 'tool' && last.result === undefined) setSaid('Your agent uses a tool.');
      else if (last?.kind === 'failed') setSaid(last.error.message);
    }
    if (whole.length > 0 || isRunning) known.current = whole.length;
  }, [whole.length]);
  return (
    <p class="only-read" aria-live="polite">
      {said}
    </p>
  );
}
