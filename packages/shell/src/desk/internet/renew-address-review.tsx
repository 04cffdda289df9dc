// The question before an app gets another address on the internet.
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { type Asked, ask } from '../prompts/ask.tsx';
import { carryOut } from '../prompts/carry-out.ts';
import { Decision } from '../prompts/parts.tsx';
import { showToast } from '../toasts/toasts.ts';

interface Renewal {
  readonly appId: string;
  readonly name: string;
}

/** Only the person asks for it. */
export function askToRenewAddress(appId: string, name: string): Promise<boolean> {
  return ask(RenewAddressReview, null, { appId, name });
}

function RenewAddressReview({ asked }: { readonly asked: Asked & Renewal }) {
  const { appId, name } = asked;
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await carryOut(() => call('apps.renewPublic', { params: { appId } }));
    working.value = false;
    if (failure.value !== null) return;
    asked.answer(true);
    showToast({ title: `${name} has a new address`, body: 'The former one no longer works.', tone: 'success' });
  }

  return (
    <>
      <div class="prompt-app">
        <span class="prompt-picture">
          <Icon name="globe" size={28} />
        </span>
        <h2 id="prompt-title">New address for {name}?</h2>
      </div>
      <p>The current address stops working at once, and you can’t get it back. This breaks:</p>
      <ul class="breaks">
        <li>links and QR codes that you shared</li>
        <li>webhooks at other services, until you enter the new address there</li>
        <li>connections that are open now</li>
      </ul>
      <p class="quiet-text">Open routes stay open, and UDP ports keep their addresses.</p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep the address"
        yes={working.value ? 'Changing …' : 'New address'}
        danger
        busy={working.value}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}
