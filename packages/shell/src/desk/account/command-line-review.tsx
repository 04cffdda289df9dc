// The question before a command line is signed in: which machine says it asks, from where, and what it may do then. The
// name is the machine's own word, so the person is asked whether the code came from their own terminal (RFC 8628, 5.4).
import type { AuthorReview } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { ago } from '../../design/words.ts';
import { confirmWithPasskey } from '../../session/confirm.ts';
import { type Failure, failureOf } from '../../session/failure.ts';
import { type Asked, ask, carriedOut } from '../prompts/ask.tsx';
import { Decision } from '../prompts/parts.tsx';
import { ScrollBox } from '../prompts/scroll-box.tsx';

interface CommandLine {
  /** As the person typed it. */
  readonly code: string;
  readonly request: AuthorReview;
}

/** Only the person, who typed its code, asks for it. */
export function askToAllowCommandLine(code: string, request: AuthorReview): Promise<boolean> {
  return ask(CommandLineReview, null, { code, request });
}

function CommandLineReview({ asked }: { readonly asked: Asked & CommandLine }) {
  const { code, request } = asked;
  const working = useSignal(false);
  const failure = useSignal<Failure | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = null;
    try {
      const confirmation = await confirmWithPasskey('author.allow');
      await call('author.requests.decide', { body: { code, allow: true, confirmation } });
      carriedOut.value = true;
      asked.answer(true);
    } catch (error) {
      failure.value = failureOf(error);
    }
    working.value = false;
  }

  return (
    <>
      <div class="prompt-app">
        <span class="prompt-picture neutral">
          <Icon name="log" size={28} />
        </span>
        <div>
          <h2 id="prompt-title">Sign in a command line?</h2>
          <p class="prompt-publisher">
            <span>It calls itself “{request.machine}”</span>
            <span>
              {request.address}, {ago(request.requestedAt)}
            </span>
          </p>
        </div>
      </div>
      <ScrollBox label="What it may do">
        {!request.sameNetwork && (
          <Note tone="warning">It asks from another network than yours. Is it really your own computer?</Note>
        )}
        <p>For 90 days, or until you sign it out in Settings, it can:</p>
        <ul class="breaks">
          <li>publish apps in your name, and new versions of your apps</li>
          <li>install and update test versions of your apps, for you alone</li>
          <li>read the logs of your apps</li>
        </ul>
        <p>It cannot grant permissions, open your apps or see their data.</p>
        <Note tone="info">
          Did somebody send you this code, or ask you to enter it? Then don’t allow it: they would publish in your name.
        </Note>
      </ScrollBox>
      <p class="quiet-text">You confirm with your passkey.</p>
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
      <Decision
        no="Don’t allow"
        yes={working.value ? 'Allowing …' : 'Allow'}
        busy={working.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
