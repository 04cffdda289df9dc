// The question before everything of the account stops.
import { useSignal } from '@preact/signals';
import { pauseEverything } from '../../apps/pause.ts';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { type Asked, type Asker, ask } from './ask.tsx';
import { carryOut } from './carry-out.ts';
import { AskerLine, Decision } from './parts.tsx';

/** Before everything of the account is stopped; `asker` is null when the person began it. */
export function askToPause(asker: Asker | null): Promise<boolean> {
  return ask(PauseReview, asker, {});
}

function PauseReview({ asked }: { readonly asked: Asked }) {
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await carryOut(pauseEverything);
    working.value = false;
    if (failure.value === null) asked.answer(true);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to stop all your apps:" />
      <div class="prompt-app">
        <span class="prompt-picture">
          <Icon name="pause" size={28} />
        </span>
        <h2 id="prompt-title">Pause everything?</h2>
      </div>
      <p>
        All your apps close, here and on your other devices, and their backends stop immediately. Nothing is deleted.
        Nothing runs until you resume it.
      </p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep them running"
        yes={working.value ? 'Pausing …' : 'Pause everything'}
        danger
        busy={working.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
