// The question before a publisher deletes a version from the Store.
import { useSignal } from '@preact/signals';
import { AppPicture } from '../../apps/app-picture.tsx';
import { Note } from '../../design/controls.tsx';
import { shortVersion } from '../../design/words.ts';
import { AskerLine, Decision } from './parts.tsx';
import { type Prompt, withdraw } from './prompts.ts';

export function WithdrawReview({ asked }: { readonly asked: Extract<Prompt, { kind: 'withdraw' }> }) {
  const { appId, name, icon } = asked;
  const version = shortVersion(asked.version);
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await withdraw(appId, asked.version);
    working.value = false;
    if (failure.value === null) asked.answer(true);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to delete a version you published:" />
      <div class="prompt-app">
        <AppPicture appId={appId} name={name} path={icon} size="large" />
        <h2 id="prompt-title">
          Delete {name} {version}?
        </h2>
      </div>
      <p>Nobody can install this version any more. You can’t publish anything else as {version} later.</p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep it"
        yes={working.value ? 'Deleting …' : `Delete ${version}`}
        danger
        busy={working.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
