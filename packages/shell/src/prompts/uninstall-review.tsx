// The question before an app is removed.
import { useSignal } from '@preact/signals';
import { AppPicture, Note } from '../design/controls.tsx';
import { findApp } from '../frames/installed-apps.ts';
import { showToast } from '../notifications/toasts.ts';
import { AskerLine, Decision } from './parts.tsx';
import { type Prompt, uninstall } from './prompts.ts';

export function UninstallReview({ asked }: { readonly asked: Extract<Prompt, { kind: 'uninstall' }> }) {
  const { appId, name } = asked;
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await uninstall(appId);
    working.value = false;
    if (failure.value !== null) return;
    asked.answer(true);
    showToast({ title: `${name} is removed`, body: 'Its data is kept in case you install it again.', tone: 'success' });
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to remove an app:" />
      <div class="prompt-app">
        <AppPicture name={name} path={findApp(appId)?.icon ?? null} size="large" />
        <h2 id="prompt-title">Remove {name}?</h2>
      </div>
      <p>It stops and loses its permissions. Its data is kept and is still there if you install it again.</p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep it"
        yes={working.value ? 'Removing …' : `Remove ${name}`}
        danger
        busy={working.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
