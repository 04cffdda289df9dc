// What is shown in place of everything while the account rests: what is so, what it means, and the way back. No app has a
// frame then, so only the shell is on the screen.
import type { AccountView } from '@platform/contract';
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { Button, Note } from '../../design/controls.tsx';
import { Icon, type IconName, Mark } from '../../design/icons.tsx';
import { signOut } from '../../session/session.ts';
import { prompt } from '../prompts/ask.tsx';
import { createPressGuard } from '../prompts/guard.ts';

interface StilledPageProps {
  readonly account: AccountView;
  readonly title: string;
  readonly icon: IconName;
  readonly isDanger?: boolean;
  readonly heading: string;
  readonly since: ComponentChildren;
  readonly facts: readonly { readonly icon: IconName; readonly text: string }[];
  readonly wayBack: {
    readonly label: string;
    readonly busyLabel: string;
    readonly icon?: IconName;
    readonly go: () => Promise<void>;
  };
  /** Below the way back. */
  readonly children?: ComponentChildren;
}

export function StilledPage(props: StilledPageProps) {
  const { account, title, icon, isDanger = false, heading, since, facts, wayBack, children } = props;
  const headingElement = useRef<HTMLHeadingElement>(null);
  const { working, failure, run } = useWork();

  useEffect(() => {
    // A prompt that an app has open is declined.
    prompt.value?.answer(false);
    document.title = `${title} · Platform`;
    headingElement.current?.focus();
  }, [title]);

  return (
    <main class="paused">
      <p class="brand">
        <Mark size={32} />
        <span>Platform</span>
      </p>
      <div class="paused-middle">
        <span class={isDanger ? 'paused-picture closing' : 'paused-picture'}>
          <Icon name={icon} size={56} />
        </span>
        <h1 ref={headingElement} tabIndex={-1}>
          {heading}
        </h1>
        <p class="paused-since">{since}</p>
        <ul class="paused-facts">
          {facts.map((fact) => (
            <li key={fact.text}>
              <Icon name={fact.icon} />
              <span>{fact.text}</span>
            </li>
          ))}
        </ul>
        {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
        <Button
          kind="primary"
          {...(wayBack.icon === undefined ? {} : { icon: wayBack.icon })}
          busy={working.value === 'back'}
          onClick={() => void run('back', wayBack.go)}
        >
          {working.value === 'back' ? wayBack.busyLabel : wayBack.label}
        </Button>
        {children}
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

type Work = 'back' | 'leave';

/** One thing at a time, and no way back by the press that led here. */
function useWork(): {
  readonly working: Signal<Work | null>;
  readonly failure: Signal<string | null>;
  run(what: Work, work: () => Promise<void>): Promise<void>;
} {
  const working = useSignal<Work | null>(null);
  const failure = useSignal<string | null>(null);
  const [guard] = useState(() => createPressGuard(() => performance.now()));

  async function run(what: Work, work: () => Promise<void>): Promise<void> {
    if (working.value !== null || (what === 'back' && !guard.isOpen())) return;
    working.value = what;
    failure.value = null;
    try {
      await work();
    } catch (error) {
      failure.value = plainMessage(error);
    }
    working.value = null;
  }
  return { working, failure, run };
}
