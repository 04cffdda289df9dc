// The question before an app gets another address on the internet.
import { useSignal } from '@preact/signals';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { Decision } from '../prompts/parts.tsx';
import { type Prompt, renewAddress } from '../prompts/prompts.ts';
import { showToast } from '../toasts/toasts.ts';

export function RenewAddressReview({ asked }: { readonly asked: Extract<Prompt, { kind: 'renew-address' }> }) {
  const { appId, name } = asked;
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await renewAddress(appId);
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
