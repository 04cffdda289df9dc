// Web push in this browser: where it stands in plain words, and one button that turns it on or off.
import { useEffect } from 'preact/hooks';
import { useAction } from '../../api/reading.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { isOperator } from '../../session/guide.ts';
import { session } from '../../session/session.ts';
import { type PushState, pushState, readPushState, turnOffPush, turnOnPush } from './push-opt-in.ts';
import { notificationSettings } from './settings.ts';

export function PushSection() {
  const { busy, failure, run } = useAction();
  const account = session.value.kind === 'signed-in' ? session.value.account.name : '';
  const state = pushState.value;
  useEffect(() => void run(() => readPushState(account)), []);
  return (
    <section class="block" aria-labelledby="push-heading">
      <h3 id="push-heading">When all its windows are closed</h3>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {state === null && failure === null && <Skeleton lines={1} label="Checking this browser" />}
      {state !== null && <Standing state={state} isMutedForAccount={notificationSettings.value?.webPush === false} />}
      {(state?.kind === 'on' || state?.kind === 'off') && (
        <p class="buttons">
          <Button
            icon="bell"
            busy={busy}
            onClick={() => void run(() => (state.kind === 'on' ? turnOffPush(account) : turnOnPush(account)))}
          >
            {state.kind === 'on' ? 'Turn off in this browser' : 'Turn on in this browser'}
          </Button>
        </p>
      )}
    </section>
  );
}

interface StandingProps {
  readonly state: PushState;
  readonly isMutedForAccount: boolean;
}

function Standing({ state, isMutedForAccount }: StandingProps) {
  if (state.kind === 'unsupported')
    return (
      <Note tone="info">
        This browser doesn’t support web push here. On an iPhone or iPad, add this page to the home screen and open it
        from there. Private windows don’t support it.
      </Note>
    );
  if (state.kind === 'not-offered')
    return (
      <Note tone="info">
        {isOperator()
          ? 'Web push is not set up. Set PLATFORM_VAPID_SUBJECT and restart the platform: docs/operators.md.'
          : 'The operator has not set up web push.'}
      </Note>
    );
  if (state.kind === 'denied')
    return (
      <Note tone="warning">
        Notifications are blocked for this site. Allow them in the browser’s site settings, then reload the page.
      </Note>
    );
  return (
    <>
      <p role="status">
        {state.kind === 'on' ? 'On in this browser.' : 'Off in this browser.'} {elsewhere(state)}
      </p>
      {isMutedForAccount && <Note tone="info">Nothing is sent to your browsers while the switch above is off.</Note>}
      <p class="quiet-text">
        These notifications go through your browser’s push service, encrypted so that only this browser can read them.
        Signing out turns this off.
      </p>
    </>
  );
}

function elsewhere({ kind, others }: PushState & { readonly others: number }): string {
  if (others === 0) return '';
  const browsers = others === 1 ? '1 other browser' : `${others} other browsers`;
  return kind === 'on' ? `Also on in ${browsers}.` : `On in ${browsers}.`;
}
