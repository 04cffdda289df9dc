// The question before another version of an installed app takes the place of the present one.
import { useSignal } from '@preact/signals';
import { AppPicture, Note } from '../design/controls.tsx';
import { AskerLine, Decision, Publisher } from './parts.tsx';
import { type Prompt, upgrade } from './prompts.ts';

export function UpgradeReview({ asked }: { readonly asked: Extract<Prompt, { kind: 'upgrade' }> }) {
  const { detail, from, version } = asked;
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await upgrade(detail.appId, version);
    working.value = false;
    if (failure.value === null) asked.answer(true);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to update an app:" />
      <div class="prompt-app">
        <AppPicture name={detail.name} path={detail.icon} size="large" />
        <div>
          <h2 id="prompt-title">Update {detail.name}?</h2>
          <Publisher name={detail.publisher} version={from} />
          <p class="quiet-text">
            From <code>{from}</code> to <code>{version}</code>
          </p>
        </div>
      </div>
      <p>It keeps its data and permissions. If the new version requests more, you can allow that in Settings.</p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep this version"
        yes={working.value ? 'Updating …' : 'Update'}
        busy={working.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
