// The one dialog in which the shell asks. It takes the focus, stands above the whole page, and says no by default.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../design/icons.tsx';
import { CommandLineReview } from '../account/command-line-review.tsx';
import { RenewAddressReview } from '../internet/renew-address-review.tsx';
import { createPressGuard, trapFocus } from './guard.ts';
import { InstallReview } from './install-review.tsx';
import { LinkReview } from './link-review.tsx';
import { PauseReview } from './pause-review.tsx';
import { carriedOut, type Prompt, prompt } from './prompts.ts';
import { UninstallReview } from './uninstall-review.tsx';
import { UpgradeReview } from './upgrade-review.tsx';
import { WithdrawReview } from './withdraw-review.tsx';

export function PromptDialog() {
  const asked = prompt.value;
  return asked === null ? null : <OpenDialog key={asked.kind} asked={asked} />;
}

function Review({ asked }: { readonly asked: Prompt }) {
  if (asked.kind === 'install') return <InstallReview asked={asked} />;
  if (asked.kind === 'upgrade') return <UpgradeReview asked={asked} />;
  if (asked.kind === 'link') return <LinkReview asked={asked} />;
  if (asked.kind === 'renew-address') return <RenewAddressReview asked={asked} />;
  if (asked.kind === 'command-line') return <CommandLineReview asked={asked} />;
  if (asked.kind === 'withdraw') return <WithdrawReview asked={asked} />;
  if (asked.kind === 'operator') return <asked.Review asked={asked} />;
  if (asked.kind === 'pause') return <PauseReview asked={asked} />;
  return <UninstallReview asked={asked} />;
}

function OpenDialog({ asked }: { readonly asked: Prompt }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [guard] = useState(() => createPressGuard(() => performance.now()));
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return undefined;
    element.showModal();
    guard.arm();
    element.querySelector<HTMLElement>('[data-default]')?.focus();
    return trapFocus(element, guard);
  }, []);

  /** Escape, or a browser that closes the dialog by itself: the answer is no, unless the work was done already. */
  function dismiss(): void {
    const element = dialog.current;
    if (element === null || prompt.value !== asked) return;
    if (isBusy(element)) {
      if (!element.open) element.showModal();
      return;
    }
    asked.answer(carriedOut.value);
  }

  /** Before any button sees it. Escape is not a press: closing is always safe. */
  function ignoreEarly(event: Event): void {
    if (guard.isOpen()) return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <dialog
      ref={dialog}
      class="prompt"
      aria-labelledby="prompt-title"
      onCancel={(event) => {
        event.preventDefault();
        dismiss();
      }}
      onClose={dismiss}
      onClickCapture={ignoreEarly}
    >
      <p class="prompt-origin">
        <Icon name="shield" size={18} />
        <span>{carriedOut.value ? 'From the platform' : 'Platform asks you'}</span>
      </p>
      <Review asked={asked} />
    </dialog>
  );
}

/** While the work is under way the dialog stays, so that its outcome is seen. */
function isBusy(dialog: HTMLDialogElement): boolean {
  return dialog.querySelector('[aria-busy="true"]') !== null;
}
