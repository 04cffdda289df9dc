// The question before a publisher deletes a version from the Store.
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { Note } from '../../design/controls.tsx';
import { shortVersion } from '../../design/words.ts';
import { type Asked, type Asker, ask } from './ask.tsx';
import { carryOutOnApps } from './carry-out.ts';
import { AskerLine, Decision } from './parts.tsx';

interface Withdrawal {
  readonly appId: string;
  readonly name: string;
  readonly icon: string | null;
  readonly version: string;
}

/**
 * Before its publisher deletes a version.
 * @throws ApiError `not_found`
 */
export async function askToWithdraw(appId: string, version: string, asker: Asker | null): Promise<boolean> {
  const { name, icon } = await call('catalog.read', { params: { appId }, query: { version } });
  return ask(WithdrawReview, asker, { appId, name, icon, version });
}

function WithdrawReview({ asked }: { readonly asked: Asked & Withdrawal }) {
  const { appId, name, icon } = asked;
  const version = shortVersion(asked.version);
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    const params = { appId, version: asked.version };
    failure.value = await carryOutOnApps(() => call('catalog.withdraw', { params }));
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
