// The page shown while the account is about to be deleted: keep it, take its data along, or leave. No app has a frame then.
import type { AccountView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { plainMessage } from './api/api-error.ts';
import { Button, Note } from './design/controls.tsx';
import { Icon, Mark } from './design/icons.tsx';
import { inFull, onDay } from './design/words.ts';
import { DownloadButton } from './session/download-button.tsx';
import { keepAccount, signOut } from './session/session.ts';

interface ClosingPageProps {
  readonly account: AccountView;
  /** RFC 3339. */
  readonly deletesAt: string;
}

export function ClosingPage({ account, deletesAt }: ClosingPageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const working = useSignal<'keep' | 'leave' | null>(null);
  const failure = useSignal<string | null>(null);

  useEffect(() => {
    document.title = 'Account to be deleted · Platform';
    heading.current?.focus();
  }, []);

  async function run(what: 'keep' | 'leave', work: () => Promise<void>): Promise<void> {
    if (working.value !== null) return;
    working.value = what;
    failure.value = null;
    try {
      await work();
    } catch (error) {
      failure.value = plainMessage(error);
      working.value = null;
    }
  }

  return (
    <main class="paused">
      <p class="brand">
        <Mark size={32} />
        <span>Platform</span>
      </p>
      <div class="paused-middle">
        <span class="paused-picture closing">
          <Icon name="trash" size={56} />
        </span>
        <h1 ref={heading} tabIndex={-1}>
          This account will be deleted
        </h1>
        <p class="paused-since">
          On{' '}
          <time dateTime={deletesAt} title={inFull(deletesAt)}>
            {onDay(deletesAt)}
          </time>
          . Until then you can keep it.
        </p>
        <ul class="paused-facts">
          <li>
            <Icon name="stop" />
            <span>Your apps are stopped and not reachable from outside. You are signed out on other devices.</span>
          </li>
          <li>
            <Icon name="lock" />
            <span>Nothing is deleted yet. Afterwards nobody can bring it back.</span>
          </li>
        </ul>
        {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
        <Button kind="primary" busy={working.value === 'keep'} onClick={() => void run('keep', keepAccount)}>
          Keep my account
        </Button>
        <div class="closing-download">
          <DownloadButton />
        </div>
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
