// The beginning of a conversation: with which agent, and what is missing where it cannot answer yet.
import type { AgentProfile, App } from '@platform/sdk/browser';
import { useId, useState } from 'preact/hooks';
import { useKept } from '../../shared/kept.ts';
import { AiLine } from './ai-line.tsx';
import { Composer } from './composer.tsx';
import type { Begun } from './main.tsx';
import { ProblemCard } from './problem-card.tsx';
import { MAIN, nameOf } from './profile-words.ts';
import type { UsedAgent } from './use-agent.ts';

interface NewSessionProps {
  readonly app: App;
  readonly agent: UsedAgent;
  readonly profiles: readonly AgentProfile[];
  readonly onBegin: (begun: Begun) => Promise<boolean>;
  readonly onBack: () => void;
}

export function NewSession({ app, agent, profiles, onBegin, onBack }: NewSessionProps) {
  const [kept, setProfile] = useKept<string>('profile', MAIN);
  const choice = useId();
  const [isSending, setSending] = useState(false);
  const profile = profiles.find(({ id }) => id === kept) ?? profiles[0];
  const described = agent.described.value;
  const problem = described?.problem ?? null;

  async function send(text: string): Promise<boolean> {
    setSending(true);
    const taken = await onBegin({ text, profile: profile?.id ?? MAIN });
    setSending(false);
    return taken;
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
      </div>
      {problem === null && <AiLine agent={agent} profile={profile} />}
      <Composer draftOf="new" isBusy={isSending} onSend={send} />
    </>
  );
}
