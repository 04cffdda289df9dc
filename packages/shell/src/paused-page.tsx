// The page shown while everything is paused, and the only place to resume. No app has a frame then, so only the shell
// is on the screen.
import type { AccountView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plainMessage } from './api/api-error.ts';
import { Button, Note } from './design/controls.tsx';
import { Icon, type IconName, Mark } from './design/icons.tsx';
import { ago, inFull } from './design/words.ts';
import { resumeEverything } from './pause.ts';
import { createPressGuard } from './prompts/guard.ts';
import { prompt } from './prompts/prompts.ts';
import { signOut } from './session/session.ts';

interface PausedPageProps {
  readonly account: AccountView;
  /** RFC 3339. */
  readonly since: string;
}

export function PausedPage({ account, since }: PausedPageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const working = useSignal<'resume' | 'leave' | null>(null);
  const failure = useSignal<string | null>(null);
  // The click that paused must not resume as well.
  const [guard] = useState(() => createPressGuard(() => performance.now()));

  useEffect(() => {
    // A prompt that an app has open is declined.
    prompt.value?.answer(false);
    document.title = 'Paused · Platform';
    heading.current?.focus();
  }, []);

  async function run(what: 'resume' | 'leave', work: () => Promise<void>): Promise<void> {
    if (working.value !== null || !guard.isOpen()) return;
    working.value = what;
    failure.value = null;
    try {
      await work();
    } catch (error) {
      failure.value = plainMessage(error);
    }
    working.value = null;
  }

  return (
    <main class="paused">
      <p class="brand">
        <Mark size={32} />
        <span>Platform</span>
      </p>
      <div class="paused-middle">
        <span class="paused-picture">
          <Icon name="pause" size={56} />
        </span>
        <h1 ref={heading} tabIndex={-1}>
          Everything is paused
        </h1>
        <p class="paused-since">
          Paused <Since at={since} />.
        </p>
        <ul class="paused-facts">
          <Fact icon="stop">None of your apps are running or reachable from outside.</Fact>
          <Fact icon="lock">Nothing was deleted.</Fact>
          <Fact icon="shield">Only you can resume them, on this page.</Fact>
        </ul>
        {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
        <Button
          kind="primary"
          icon="play"
          busy={working.value === 'resume'}
          onClick={() => void run('resume', resumeEverything)}
        >
          {working.value === 'resume' ? 'Resuming …' : 'Resume everything'}
        </Button>
      </div>
      <p class="paused-account">
        <span>
          Signed in as <strong>{account.name}</strong>
        </span>
        <button type="button" class="link" onClick={() => void run('leave', signOut)}>
          {working.value === 'leave' ? 'Signing out …' : 'Sign out'}
        </button>
      </p>
    </main>
  );
}

const EVERY_MS = 30_000;

/** How long ago, updated while it is shown. */
function Since({ at }: { readonly at: string }) {
  const [words, setWords] = useState(() => ago(at));
  useEffect(() => {
    const timer = setInterval(() => setWords(ago(at)), EVERY_MS);
    return () => clearInterval(timer);
  }, [at]);
  return (
    <time dateTime={at} title={inFull(at)}>
      {words}
    </time>
  );
}

function Fact({ icon, children }: { readonly icon: IconName; readonly children: ComponentChildren }) {
  return (
    <li>
      <Icon name={icon} />
      <span>{children}</span>
    </li>
  );
}
