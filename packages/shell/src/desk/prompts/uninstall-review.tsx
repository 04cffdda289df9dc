// The question before an app is removed.
import { useSignal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { essentialApp } from '../../apps/essential-apps.ts';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { findApp } from '../../apps/installed-apps.ts';
import { Note } from '../../design/controls.tsx';
import { showToast } from '../toasts/toasts.ts';
import { type Asked, type Asker, ask } from './ask.tsx';
import { askToInstall } from './ask-to-install.ts';
import { carryOutOnApps } from './carry-out.ts';
import { AskerLine, Decision } from './parts.tsx';

interface Removal {
  readonly appId: string;
  readonly name: string;
}

export function askToUninstall(appId: string, name: string, asker: Asker | null): Promise<boolean> {
  return ask(UninstallReview, asker, { appId, name });
}

function uninstall(appId: string): Promise<string | null> {
  return carryOutOnApps(async () => {
    await call('apps.uninstall', { params: { appId } });
    closeApp(appId);
  });
}

function reportFailure(error: unknown): void {
  showToast({ title: 'It could not be installed again', body: plainMessage(error), tone: 'danger' });
}

function UninstallReview({ asked }: { readonly asked: Asked & Removal }) {
  const { appId, name } = asked;
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);
  const essential = essentialApp(appId);
  /** The person read what they give up; needed for an essential app only. */
  const understood = useSignal(essential === undefined);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await uninstall(appId);
    working.value = false;
    if (failure.value !== null) return;
    asked.answer(true);
    showToast({
      title: `${name} is removed`,
      body: 'Its data is kept in case you install it again.',
      tone: 'success',
      ...(essential !== undefined && {
        urgent: true,
        action: { label: 'Install it again', run: () => void askToInstall(appId, null, null).catch(reportFailure) },
      }),
    });
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to remove an app:" />
      <div class="prompt-app">
        <AppPicture appId={appId} name={name} path={findApp(appId)?.icon ?? null} size="large" />
        <h2 id="prompt-title">Remove {name}?</h2>
      </div>
      <p>It stops and loses its permissions. Its data is kept and is still there if you install it again.</p>
      {essential !== undefined && (
        <>
          <Note tone="warning">{essential.without} You can install it again in Settings → Apps.</Note>
          <label class="check">
            <input
              type="checkbox"
              checked={understood.value}
              onChange={(event) => {
                understood.value = event.currentTarget.checked;
              }}
            />
            <span>Remove this part of the platform anyway</span>
          </label>
        </>
      )}
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep it"
        yes={working.value ? 'Removing …' : `Remove ${name}`}
        danger
        busy={working.value}
        disabled={!understood.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
