// Personal Agent: conversations with an agent that uses the person's apps as far as they let it. The list beside the conversation on a
// desktop, one after the other on a phone.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useOpened } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { type Branch, isRefused, type Message } from './agent-api.ts';
import { NewSession } from './new-session.tsx';
import { ProblemCard } from './problem-card.tsx';
import { Profiles } from './profiles.tsx';
import { SessionList } from './session-list.tsx';
import { SessionView } from './session-view.tsx';
import { useAgent } from './use-agent.ts';

startApp(PersonalAgent);

/** In the place of the id of a session. */
const NEW = 'new';
const PROFILES = 'agents';

export interface Begun extends Message {
  /** `undefined` for that of the conversation that it branches from. */
  readonly profile: string | undefined;
  /** It begins as another one did, before a message that is written anew. */
  readonly branch?: Branch;
}

function PersonalAgent({ app }: { readonly app: App }) {
  const agent = useAgent(app);
  const { api, sessions, profiles, described } = agent;
  const [open, setOpen] = useOpened('open');
  /** Back always leads to the list. */
  const go = (id: string) => setOpen(id, id === '' || open === '' ? undefined : 'place');
  const [problem, setProblem] = useState<string>();

  /** @returns whether the agent took it */
  async function begin({ profile, branch, ...said }: Begun): Promise<boolean> {
    setProblem(undefined);
    // Of the message that begins it: sent again, it is the same conversation.
    const id = `ses-${said.message}`;
    const body = { id, ...(profile === undefined ? {} : { profile }), ...(branch === undefined ? {} : { branch }) };
    try {
      await api.begin(body);
      try {
        await api.say(id, said);
      } catch (error) {
        // An empty conversation is of no use. One that nobody knows of to be empty stays.
        if (isRefused(error)) await api.remove(id).catch(() => undefined);
        throw error;
      }
      agent.reload();
      go(id);
      return true;
    } catch (error) {
      setProblem(messageOf(error));
      return false;
    }
  }

  async function remove(id: string): Promise<void> {
    setProblem(undefined);
    try {
      await api.remove(id);
      go('');
    } catch (error) {
      setProblem(messageOf(error));
    }
    await sessions.reload();
  }

  if (!app.backend.available) return <NotAllowedYet />;
  const isOpen = open !== '';
  return (
    <main class={isOpen ? 'chat has-open' : 'chat'}>
      <section class="side" aria-label="Conversations">
        <div class="row between head">
          <h1>Personal Agent</h1>
          <button type="button" class="primary" onClick={() => go(NEW)}>
            New
          </button>
        </div>
        <Failure text={described.failure ?? sessions.failure} />
        <SessionList agent={agent} open={open} onOpen={go} />
        {/* A phone shows nothing beside the list. */}
        {open === '' && sessions.value?.length === 0 && described.value?.problem != null && (
          <div class="narrow-only">
            <ProblemCard app={app} problem={described.value.problem} />
          </div>
        )}
        <div class="foot">
          <button type="button" aria-current={open === PROFILES ? 'page' : undefined} onClick={() => go(PROFILES)}>
            Agents
          </button>
        </div>
      </section>
      <section class="stage" aria-label={open === PROFILES ? 'Agents' : 'Conversation'}>
        {open === PROFILES ? (
          <Profiles agent={agent} onBack={() => go('')} />
        ) : open.startsWith('ses-') ? (
          <SessionView
            key={open}
            app={app}
            agent={agent}
            id={open}
            onBegin={begin}
            onRemove={() => remove(open)}
            onBack={() => go('')}
          />
        ) : (
          <NewSession
            app={app}
            agent={agent}
            profiles={profiles}
            onBegin={begin}
            onBegun={(id) => {
              agent.reload();
              go(id);
            }}
            onBack={() => go('')}
          />
        )}
        <Failure text={problem} />
      </section>
    </main>
  );
}

/** It came with an update, and its person has not looked at that yet. */
function NotAllowedYet() {
  return (
    <main>
      <h1>Personal Agent</h1>
      <section class="card stack below">
        <p>Your agent has not been allowed to run yet.</p>
        <p class="quiet">
          Open Settings → Apps → Personal Agent and review what it asks for. It can do nothing until you allow it there.
        </p>
      </section>
    </main>
  );
}
