// Command lines that are signed in to the account, ending them, and the code of a further one.
import type { AuthorTokenView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago, onDay } from '../../design/words.ts';
import { useDraft } from '../../session/drafts.ts';
import { askToAllowCommandLine } from './command-line-review.tsx';

export function CommandLinePage() {
  const reading = useReading(async () => (await call('author.tokens.list')).items);
  const { value: tokens, failure, again, put } = reading;
  return (
    <>
      <PageHead title="Command line">
        <p class="quiet-text">
          With <code>./platform login</code> on your own computer you publish and try out the apps you write, without
          signing in to the server.
        </p>
      </PageHead>
      <EnterCode again={again} />
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {tokens === null && failure === null && <Skeleton lines={2} label="Loading command lines" />}
      {tokens !== null && tokens.length > 0 && (
        <section aria-labelledby="command-lines-title">
          <h3 id="command-lines-title">Signed in</h3>
          <ul class="rows">
            {tokens.map((token) => (
              <TokenRow key={token.id} token={token} onEnded={() => put(tokens.filter(({ id }) => id !== token.id))} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const CHECKS = 8;
const CHECK_MS = 1_000;

function EnterCode({ again }: { readonly again: () => Promise<void> }) {
  const { busy, failure, run } = useAction();
  const allowed = useSignal<string | null>(null);
  const code = useDraft('command-line', '', { secret: true });
  const gone = useRef(false);
  useEffect(
    () => () => {
      gone.current = true;
    },
    [],
  );

  async function review(): Promise<void> {
    const typed = code.value;
    allowed.value = null;
    await run(async () => {
      const found = await call('author.requests.review', { body: { code: typed } }).catch(inWords);
      const { machine } = found;
      if (await askToAllowCommandLine(typed, found)) allowed.value = machine;
      // Closing the question is a no: a code is looked at once.
      else await call('author.requests.decide', { body: { code: typed, allow: false } });
      code.drop();
    });
    // The command line asks every few seconds; its row comes with its answer.
    for (let check = 0; allowed.value !== null && !gone.current && check < CHECKS; check += 1) {
      await new Promise((done) => setTimeout(done, CHECK_MS));
      await again();
    }
  }

  return (
    <section class="block" aria-labelledby="enter-code-title">
      <h3 id="enter-code-title">Sign in a command line</h3>
      <form
        class="slot-choice"
        onSubmit={(event) => {
          event.preventDefault();
          if (code.value.trim() !== '') void review();
        }}
      >
        <label for="cli-code">Code from your terminal</label>
        <input
          id="cli-code"
          class="code-field"
          type="text"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          maxLength={16}
          placeholder="XXXXX-XXXXX"
          aria-describedby="cli-code-help"
          value={code.value}
          disabled={busy}
          onInput={(event) => code.put(event.currentTarget.value)}
        />
        <p id="cli-code-help" class="field-help">
          Only enter a code that you see in your own terminal. Anyone who sends you a code wants to use your account.
        </p>
        <div class="buttons">
          <button
            type="submit"
            class="button primary"
            aria-disabled={busy || code.value.trim() === ''}
            aria-busy={busy}
          >
            <span>Continue</span>
          </button>
        </div>
      </form>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {allowed.value !== null && (
        <Note tone="success">You allowed {allowed.value}. It is signed in within a few seconds.</Note>
      )}
    </section>
  );
}

/** @throws ApiError in words for somebody who typed a code */
function inWords(error: unknown): never {
  if (error instanceof ApiError && error.code === 'invalid_request')
    throw new ApiError({ ...error, detail: 'A code has ten letters and digits, such as 7KXWQ-4MHTP.' });
  throw error;
}

export function TokenRow({ token, onEnded }: { readonly token: AuthorTokenView; readonly onEnded: () => void }) {
  const { busy, failure, run } = useAction();
  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="log" />
        </span>
        <span class="row-text">
          <span class="row-title">{token.machine}</span>
          <span class="row-about">
            Used {ago(token.lastUsedAt)} · allowed {ago(token.createdAt)} · ends on {onDay(token.expiresAt)}
          </span>
        </span>
        <Button
          busy={busy}
          onClick={() =>
            void run(() => call('author.tokens.revoke', { params: { id: token.id } })).then((done) => {
              if (done) onEnded();
            })
          }
        >
          Sign out
        </Button>
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
