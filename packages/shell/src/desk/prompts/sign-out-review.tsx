// The question before a sign-out that would lose what is typed in forms and not saved.
import { Icon } from '../../design/icons.tsx';
import { count } from '../../design/words.ts';
import { draftCount } from '../../session/drafts.ts';
import { signOut } from '../../session/session.ts';
import { type Asked, ask } from './ask.tsx';
import { Decision } from './parts.tsx';

/**
 * Signs out, at once if nothing is lost by it.
 * @throws ApiError when core did not confirm: the session is then still open
 */
export async function signOutOrAsk(): Promise<void> {
  if (draftCount() === 0 || (await ask(SignOutReview, null, {}))) await signOut();
}

function SignOutReview({ asked }: { readonly asked: Asked }) {
  return (
    <>
      <div class="prompt-app">
        <span class="prompt-picture">
          <Icon name="leave" size={28} />
        </span>
        <h2 id="prompt-title">Sign out without saving?</h2>
      </div>
      <p>What you typed in {count(draftCount(), 'form')} is not saved. Signing out deletes it from this browser.</p>
      <Decision
        no="Stay signed in"
        yes="Sign out"
        danger
        busy={false}
        onNo={() => asked.answer(false)}
        onYes={() => asked.answer(true)}
      />
    </>
  );
}
