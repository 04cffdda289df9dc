// The card above the home screen of the first account: with which command it becomes the operator, and then that it did. Drawn by
// the shell, since what a person types at a console must not come from an app.
import { view } from '../../address/view.ts';
import { useAction } from '../../api/reading.ts';
import { openApp } from '../../apps/frames/open-apps.ts';
import { Button, Note } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icons.tsx';
import { prompt } from '../prompts/ask.tsx';
import { dismissGuide, guide } from './guide.ts';

export function GuideCard({ account }: { readonly account: string }) {
  const { failure, busy, run } = useAction();
  const shown = guide.value;
  if (view.value.kind !== 'home' || shown === null || shown.standing === 'none' || shown.dismissed) return null;
  return (
    <section class="guide-card" aria-labelledby="guide-title" inert={prompt.value !== null}>
      <div class="guide-picture">
        <Icon name="shield" size={24} />
      </div>
      <div class="guide-text">
        {shown.standing === 'first' ? <BecomeOperator account={account} /> : <IsOperator />}
        {failure !== null && <Note tone="danger">{failure}</Note>}
      </div>
      <div class="buttons">
        {shown.standing === 'operator' && (
          <Button kind="primary" onClick={() => openApp('fleet', '?page=Setup')}>
            Set up the platform
          </Button>
        )}
        <Button kind="quiet" busy={busy} onClick={() => void run(dismissGuide)}>
          {shown.standing === 'first' ? 'Not now' : 'Hide'}
        </Button>
      </div>
    </section>
  );
}

function BecomeOperator({ account }: { readonly account: string }) {
  const isLocal = /(^|\.)localhost$/.test(location.hostname);
  const command = `${isLocal ? './' : ''}platform account operator ${account}`;
  return (
    <>
      <h2 id="guide-title">Is this your platform?</h2>
      <p>
        It has no operator yet. To become it, run this{' '}
        {isLocal ? 'in a second terminal, in the folder where you started it:' : 'on its server:'}
      </p>
      <p class="guide-command">
        <code>{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
    </>
  );
}

function IsOperator() {
  return (
    <>
      <h2 id="guide-title">You are the operator</h2>
      <p role="status">
        Fleet shows what is set up, and where to set up the rest: AI, storage, a public address, invitations, backups.
      </p>
    </>
  );
}
