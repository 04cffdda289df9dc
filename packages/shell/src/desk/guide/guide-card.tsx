// The card above the home screen of the first account: with which command it becomes the operator, and then that it did. Drawn by
// the shell, since what a person types at a console must not come from an app.
import { view } from '../../address/view.ts';
import { useAction } from '../../api/reading.ts';
import { openApp } from '../../apps/frames/open-apps.ts';
import { Button, Note } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icons.tsx';
import { dismissGuide, guide } from '../../session/guide.ts';
import { prompt } from '../prompts/ask.tsx';

export function GuideCard({ account }: { readonly account: string }) {
  const { failure, busy, run } = useAction();
  const shown = guide.value;
  const command = commandFor(account);
  if (view.value.kind !== 'home' || shown === null || shown.standing === 'none' || shown.dismissed) return null;
  return (
    <section class="guide-card" aria-labelledby="guide-title" inert={prompt.value !== null}>
      <div class="guide-picture">
        <Icon name="shield" size={24} />
      </div>
      <div class="guide-text">
        {shown.standing === 'first' ? <BecomeOperator command={command} /> : <IsOperator />}
        {failure !== null && <Note tone="danger">{failure}</Note>}
      </div>
      <div class="buttons">
        {shown.standing === 'first' && <CopyButton text={command} what="the command" />}
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

/** On a laptop the command lies in the folder of the platform; on a server it is installed. */
const isLocal = /(^|\.)localhost$/.test(location.hostname);

function commandFor(account: string): string {
  return `${isLocal ? './' : ''}platform account operator ${account}`;
}

function BecomeOperator({ command }: { readonly command: string }) {
  return (
    <>
      <h2 id="guide-title">Is this your platform?</h2>
      <p>
        Nobody operates it yet. To become its operator, run this{' '}
        {isLocal ? 'in a second terminal, in the folder where you started it:' : 'on its server:'}
      </p>
      <code>{command}</code>
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
