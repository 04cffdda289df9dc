// Invitations that wait to be used. The shell makes their links and shows each once; this page never has one.
import type { App } from '@platform/sdk/browser';
import { accountNameProblem } from '@platform/shell/account-name';
import { onDay } from '@platform/shell/words';
import { useId, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { type Actions, Outcome, useActions } from './use-actions.tsx';
import { usePages } from './use-pages.ts';
import { ago } from './words.ts';

type Registration = 'open' | 'invite' | 'closed';

export function InvitationsPage({ app }: { readonly app: App }) {
  const [registration, setRegistration] = useState<Registration>();
  const { items, hasMore, failure, reload, more } = usePages(app, '', async (page) => {
    const answer = await app.bridge.call('system.invitations', page);
    setRegistration(answer.registration);
    return answer;
  });
  const actions = useActions(reload);
  return (
    <>
      {registration === 'open' && (
        <p>Anyone can register here without an invitation. Under Settings you can change that.</p>
      )}
      {registration === 'closed' ? (
        <p>Registration is closed, so nobody can be invited. Under Settings you can change that.</p>
      ) : (
        <InviteForm app={app} actions={actions} />
      )}
      <Outcome actions={actions} />
      <Failure text={failure} />
      {items?.length === 0 && <p class="card quiet">No invitations wait to be used.</p>}
      <ul class="plain list" aria-label="Invitations">
        {items?.map(({ id, name, createdAt, expiresAt }) => (
          <li key={id} class="card row between">
            <div class="grow">
              <h2>{name === null ? 'For any name' : `For ${name}`}</h2>
              <p class="quiet small">
                Created {ago(createdAt)}, works until {onDay(expiresAt)}
              </p>
            </div>
            <button
              type="button"
              disabled={actions.busy}
              onClick={() =>
                void actions.run(
                  async () => (await app.bridge.call('system.uninvite', { id })).revoked,
                  'The invitation is withdrawn.',
                )
              }
            >
              Withdraw …<span class="only-read"> the invitation {name === null ? 'for any name' : `for ${name}`}</span>
            </button>
          </li>
        ))}
      </ul>
      {hasMore && (
        <button type="button" onClick={() => void more()}>
          Show more
        </button>
      )}
    </>
  );
}

function InviteForm({ app, actions }: { readonly app: App; readonly actions: Actions }) {
  const [typed, setTyped] = useKept<string>('invited', '');
  const [problem, setProblem] = useState<string>();
  const id = useId();
  const name = typed.trim().toLowerCase();
  async function invite(): Promise<void> {
    const wrong = name === '' ? null : accountNameProblem(name);
    setProblem(wrong ?? undefined);
    if (wrong !== null) return;
    const params = name === '' ? {} : { name };
    await actions.run(async () => {
      const { invited } = await app.bridge.call('system.invite', params);
      if (invited) setTyped('');
      return invited;
    }, 'The invitation is created.');
  }
  return (
    <form
      class="row invite"
      onSubmit={(event) => {
        event.preventDefault();
        if (!actions.busy) void invite();
      }}
    >
      <label class="field grow">
        Account name (optional)
        <input
          type="text"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={64}
          value={typed}
          aria-describedby={id}
          aria-invalid={problem !== undefined}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={actions.busy}>
        Create invitation …
      </button>
      <p id={id} class="quiet small whole">
        {name === typed.trim()
          ? 'With a name, only that name can be registered with it.'
          : `Only “${name}” can be registered with it: names have small letters.`}
      </p>
      <div class="whole">
        <Failure text={problem} />
      </div>
    </form>
  );
}
