// Right after a sign-in: opens the recipient without asking for anything, and says once if that cannot work.
import { go, settingsAt } from '../../address/view.ts';
import { showToast } from '../toasts/toasts.ts';
import { useSignIn } from './here.ts';

export async function openAtSignIn(account: string): Promise<void> {
  if (!(await useSignIn(account))) return;
  showToast({
    title: 'Apps can’t encrypt for you with this passkey',
    body: 'Apps that keep things only you can read, such as a diary, can’t do that for you here. Everything else works.',
    action: { label: 'Passkeys', run: () => go(settingsAt('passkeys')) },
  });
}
