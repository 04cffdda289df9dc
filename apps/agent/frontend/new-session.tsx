// The beginning of a conversation: with which agent, and what is missing where it cannot answer yet.
import type { AgentProfile, App } from '@platform/sdk/browser';
import { useId, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import type { Loaded } from '../../shared/use-loaded.ts';
import type { Message } from './agent-api.ts';
import { AiLine } from './ai-line.tsx';
import { Composer } from './composer.tsx';
import type { Begun } from './main.tsx';
import { Pending } from './messages.tsx';
import { ProblemCard } from './problem-card.tsx';
import { MAIN, nameOf } from './profile-words.ts';
import type { UsedAgent } from './use-agent.ts';

interface NewSessionProps {
  readonly app: App;
  readonly agent: UsedAgent;
  readonly profiles: Loaded<readonly AgentProfile[]>;
  readonly onBegin: (begun: Begun) => Promise<boolean>;
  /** It was begun before the page was loaded anew. */
  readonly onBegun: (id: string) => void;
  readonly onBack: () => void;
}

export function NewSession({ app, agent, profiles: loaded, onBegin, onBegun, onBack }: NewSessionProps) {
  const [kept, setProfile] = useKept<string>('profile', MAIN);
  const choice = useId();
  const [outgoing, setOutgoing] = useState<string>();
  const profiles = loaded.value ?? [];
  const chosen = profiles.find(({ id }) => id === kept);
  const profile = chosen ?? profiles.find(({ id }) => id === MAIN);
  // The one that is always there can be written to at once; of any other it must be known that it is there.
  const isUnknown = kept !== MAIN && loaded.value === undefined;
  const described = agent.described.value;
  const problem = described?.problem ?? null;

  async function send(said: Message): Promise<boolean> {
    setOutgoing(said.text);
    const taken = await onBegin({ ...said, profile: profile?.id ?? MAIN });
    setOutgoing(undefined);
    return taken;
  }

  async function wasTaken(message: string): Promise<boolean> {
    const id = `ses-${message}`;
    const has = await hasMessage(agent, id, message);
    if (has) onBegun(id);
    return has;
  }

  return (
    <>
      <div class="stage-head narrow-only">
        <button type="button" class="back" onClick={onBack} aria-label="Back to the conversations">
          ‹
        </button>
        <h2>New conversation</h2>
      </div>
      <div class="greeting">
        {problem === null ? (
          <>
            <h2>What can I do for you?</h2>
            <p class="quiet">
              Your agent asks you before it uses a tool of your apps, searches the web or acts for you. What it may do
              without asking is in Settings → Tools.
            </p>
          </>
        ) : (
          <ProblemCard app={app} problem={problem} />
        )}
        {profiles.length > 1 && (
          <div class="choice">
            <label htmlFor={choice}>Agent</label>
            <select
              id={choice}
              value={profile?.id ?? MAIN}
              onChange={({ currentTarget }) => setProfile(currentTarget.value)}
            >
              {profiles.map(({ id }) => (
                <option key={id} value={id}>
                  {nameOf(id, profiles)}
                </option>
              ))}
            </select>
          </div>
        )}
        {isUnknown && loaded.failure === undefined && (
          <p class="quiet small" role="status">
            Looking for the agent that you chose…
          </p>
        )}
        {isUnknown && loaded.failure !== undefined && (
          <>
            <Failure text={loaded.failure} />
            <p class="row">
              <button type="button" onClick={() => void loaded.reload()}>
                Look for the agent that you chose again
              </button>
              <button type="button" onClick={() => setProfile(MAIN)}>
                Write to {nameOf(MAIN, [])}
              </button>
            </p>
          </>
        )}
        {loaded.value !== undefined && chosen === undefined && (
          <p class="small" role="status">
            The agent that you chose last was deleted. This goes to {nameOf(MAIN, profiles)}.
          </p>
        )}
        {outgoing !== undefined && <Pending text={outgoing} />}
      </div>
      {problem === null && <AiLine agent={agent} profile={profile} />}
      <Composer draftOf="new" isBusy={isUnknown} onSend={send} wasTaken={wasTaken} />
    </>
  );
}

/** `false` also while nobody can say: then it is sent again with the same id. */
async function hasMessage({ api }: UsedAgent, session: string, message: string): Promise<boolean> {
  const page = await api.page(session).catch(() => undefined);
  return page?.events.some(({ event, data }) => event === 'message' && data.message === message) ?? false;
}
