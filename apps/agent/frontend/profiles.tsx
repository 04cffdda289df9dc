// The agents of the person: names under which the app works with instructions, tools and a share of the budget of their own.
import type { AgentProfile, AgentProfileBody } from '@platform/sdk/browser';
import { useRef, useState } from 'preact/hooks';
import { AskFirst } from '../../shared/ask-first.tsx';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { ProfileForm } from './profile-form.tsx';
import { MAIN, nameOf } from './profile-words.ts';
import type { UsedAgent } from './use-agent.ts';
import { tokensInWords, toolInWords } from './words.ts';

const NEW = 'new';
const MOST = 20;

export function Profiles({ agent, onBack }: { readonly agent: UsedAgent; readonly onBack: () => void }) {
  const { api, profiles, described } = agent;
  const [open, setOpen] = useState('');
  const [problem, setProblem] = useState<string>();
  const [said, setSaid] = useState('');
  const add = useRef<HTMLButtonElement>(null);
  const all = profiles.value ?? [];

  async function act(work: () => Promise<unknown>, done: string): Promise<void> {
    setProblem(undefined);
    try {
      await work();
      setSaid(done);
    } catch (error) {
      setProblem(messageOf(error));
    }
    await profiles.reload();
  }

  async function save(id: string | undefined, body: AgentProfileBody): Promise<void> {
    await api.saveProfile(id, body);
    setOpen('');
    setSaid('Saved.');
    await profiles.reload();
    add.current?.focus();
  }

  const form = (profile: AgentProfile | undefined) => (
    <ProfileForm
      profile={profile}
      described={described.value}
      tools={agent.tools}
      onSave={(body) => save(profile?.id, body)}
      onCancel={() => setOpen('')}
    />
  );
  return (
    <>
      <div class="stage-head">
        <button type="button" class="back" onClick={onBack} aria-label="Back to the conversations">
          ‹
        </button>
        <h2 class="grow">Agents</h2>
        {open === '' && all.length < MOST && (
          <button ref={add} type="button" class="primary" onClick={() => setOpen(NEW)}>
            New agent
          </button>
        )}
      </div>
      <div class="page">
        <p class="quiet">
          Each agent has its own instructions, tools and share of the budget, so that one for recipes need not see your
          messages. They are one app to the platform: what you allow Personal Agent in Settings is the most that any of
          them can do, and they share its storage.
        </p>
        <Failure text={problem ?? profiles.failure} />
        <p class="only-read" aria-live="polite">
          {said}
        </p>
        {open === NEW && form(undefined)}
        <ul class="plain stack">
          {all.map((profile) =>
            open === profile.id ? (
              <li key={profile.id}>{form(profile)}</li>
            ) : (
              <li key={profile.id} class="card profile">
                <h3>{nameOf(profile.id, all)}</h3>
                {profile.instructions !== '' && (
                  <p class="words short" dir="auto">
                    {profile.instructions}
                  </p>
                )}
                <p class="quiet small">{factsOf(profile, agent).join(' · ')}</p>
                <div class="row">
                  <button type="button" onClick={() => setOpen(profile.id)}>
                    Change<span class="only-read"> {nameOf(profile.id, all)}</span>
                  </button>
                  {profile.id !== MAIN && (
                    <AskFirst
                      word="Delete"
                      name={nameOf(profile.id, all)}
                      question="Delete this agent? What was said with it stays."
                      yes="Yes, delete"
                      onYes={() => void act(() => api.removeProfile(profile.id), 'It was deleted.')}
                    />
                  )}
                </div>
              </li>
            ),
          )}
        </ul>
      </div>
    </>
  );
}

function factsOf({ tools, webSearch, model, monthlyTokens, usage }: AgentProfile, agent: UsedAgent): string[] {
  const some = (tools ?? []).map((tool) => toolInWords(tool, agent.tools));
  const named = some.length > 3 ? `${some.length} tools` : some.join(', ');
  return [
    tools === null ? 'All tools' : tools.length === 0 ? 'No tools' : named,
    webSearch ? 'may ask to search the web' : 'never searches the web',
    ...(model === null ? [] : [model.id]),
    monthlyTokens === null
      ? `used ${tokensInWords(usage.tokens)} tokens this month`
      : `used ${tokensInWords(usage.tokens)} of ${tokensInWords(monthlyTokens)} tokens this month`,
  ];
}
