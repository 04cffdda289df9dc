// The one dialog in which the shell asks. It takes the focus, stands above the whole page, and says no by default.
import { useEffect, useRef, useState } from 'preact/hooks';
import { noteTheft } from '../../apps/frames/field-guard.ts';
import { withhold } from '../../apps/frames/open-apps.ts';
import { Icon } from '../../design/icons.tsx';
import { carriedOut, type Prompt, prompt } from './ask.tsx';
import { createPressGuard, trapFocus } from './guard.ts';
import { AskerOrigin } from './parts.tsx';

export function PromptDialog() {
  const asked = prompt.value;
  return asked === null ? null : <OpenDialog key={asked.id} asked={asked} />;
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
    let giveBack: (() => void)[] = [];
    const letGo = trapFocus(element, guard, {
      once: noteTheft,
      tooOften: () => {
        giveBack = [...giveBack, withhold()];
      },
    });
    return () => {
      letGo();
      for (const give of giveBack) give();
    };
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
    // It decides nothing, whatever was pressed in the frame before; what it leads to does.
    if ((event.target as Element).closest('[data-leaves-frame]') !== null) {
      guard.arm();
      return;
    }
    if (guard.press()) return;
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
      {asked.draw()}
      {!carriedOut.value && <AskerOrigin asker={asked.asker} />}
    </dialog>
  );
}

/** While the work is under way the dialog stays, so that its outcome is seen. */
function isBusy(dialog: HTMLDialogElement): boolean {
  return dialog.querySelector('[aria-busy="true"]') !== null;
}
