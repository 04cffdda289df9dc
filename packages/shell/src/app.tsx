// Which of the five states of the page is shown.

import { Button, Note, Spinner } from './design/controls.tsx';
import { Mark } from './design/icons.tsx';
import { Desk } from './desk/desk.tsx';
import { ClosingPage } from './desk/stilled/closing-page.tsx';
import { hasOneTimeLink } from './session/enrolment.ts';
import { checkSession, session } from './session/session.ts';
import { Welcome } from './session/welcome.tsx';

export function App() {
  const state = session.value;
  if (state.kind === 'checking') {
    return (
      <main class="centred" aria-busy="true">
        <h1 class="only-read">Platform</h1>
        <p role="status" class="waiting">
          <Mark size={44} />
          <span class="only-read">Loading</span>
          <Spinner />
        </p>
      </main>
    );
  }
  if (state.kind === 'unreachable') {
    return (
      <main class="centred">
        <div class="card narrow">
          <Mark size={44} />
          <h1>The platform does not answer</h1>
          <Note tone="danger">{state.message}</Note>
          <Button kind="primary" icon="refresh" onClick={() => void checkSession()}>
            Try again
          </Button>
        </div>
      </main>
    );
  }
  if (state.kind === 'signed-out' || hasOneTimeLink()) {
    return <Welcome notice={state.kind === 'signed-out' ? state.notice : null} />;
  }
  const { deletesAt } = state.account;
  if (deletesAt !== undefined) return <ClosingPage account={state.account} deletesAt={deletesAt} />;
  return <Desk account={state.account} />;
}
