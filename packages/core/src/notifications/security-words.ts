// What a security notice says, and where in Settings the way back is.
import { isLoopbackHost, type Notification } from '@platform/contract';
import type { SecurityEvent } from '../security-events.ts';

interface NoticeWords {
  readonly title: string;
  readonly body: string;
  /** `high` for what decides who gets in. */
  readonly priority: Extract<Notification['priority'], 'normal' | 'high'>;
  /** `page`: its address below `#/settings/`. */
  readonly action: { readonly label: string; readonly page: string };
}

const PASSKEYS = { label: 'Review passkeys', page: 'passkeys' } as const;

export function noticeWords(event: SecurityEvent): NoticeWords {
  switch (event.kind) {
    case 'passkey-added':
      return {
        title: 'A passkey was added to your account',
        body: `“${event.label}” can sign in from now on. If you didn’t add it, remove it and end the sessions that aren’t yours.`,
        priority: 'high',
        action: PASSKEYS,
      };
    case 'passkey-removed':
      return {
        title: 'A passkey was removed from your account',
        body: `“${event.label}” no longer signs in. The other sessions it opened, the command lines it allowed and the clients it connected have ended. If you didn’t remove it, remove every passkey you don’t know, then add yours again.`,
        priority: 'high',
        action: PASSKEYS,
      };
    case 'recovery-link-used':
      return {
        title: 'Your account was recovered with a link from the operator',
        body: `The link added “${event.label}” and signed in with it. Passkeys, sessions and command lines from before still work: decide which of them stay. If you didn’t ask for a link, tell the operator.`,
        priority: 'high',
        action: { label: 'Decide what stays', page: 'recovered' },
      };
    case 'recipient-replaced':
      return {
        title: 'Apps encrypt for you with a new key',
        body: 'You started anew. What they encrypted before opens only in browsers that have the former key. If that wasn’t you, end the sessions that aren’t yours, and remove passkeys you don’t know.',
        priority: 'high',
        action: PASSKEYS,
      };
    case 'command-line-allowed':
      return {
        title: 'A command line may publish as you',
        body: `You allowed “${event.machine}”. If that wasn’t you, sign it out.`,
        priority: 'normal',
        action: { label: 'Review command lines', page: 'command-line' },
      };
    case 'client-connected':
      return {
        title: 'A client may use your tools',
        body: `You connected “${event.client}”, ${isLoopbackHost(event.host) ? 'a program on a computer' : `at ${event.host}`}. If that wasn’t you, disconnect it.`,
        priority: 'normal',
        action: { label: 'Review connections', page: 'connections' },
      };
    case 'export-taken':
      return {
        title: 'An export of your account was downloaded',
        body: 'It holds everything in your account except secrets and keys. If you didn’t take it, end the sessions that aren’t yours, and remove passkeys you don’t know.',
        priority: 'high',
        action: { label: 'Review sessions', page: 'sessions' },
      };
    case 'operator-named':
      return {
        title: 'You are the operator of this platform',
        body: 'A command at the console made it so. Your account can invite, suspend and delete others in Fleet. Add a second passkey, so that losing one doesn’t lock you out.',
        priority: 'normal',
        action: PASSKEYS,
      };
    case 'operator-withdrawn':
      return {
        title: 'You are no longer the operator of this platform',
        body: 'That was taken back at the console. Fleet no longer shows anything.',
        priority: 'normal',
        action: { label: 'Review apps', page: 'apps' },
      };
    case 'deletion-requested':
      return {
        title: 'The deletion of your account was requested',
        body: `Unless you keep it, the account is deleted on ${event.deletesAt.slice(0, 10)}. If you didn’t ask for this, keep it, end the other sessions, and remove passkeys you don’t know.`,
        priority: 'high',
        action: { label: 'Review the deletion', page: 'account' },
      };
    case 'secret-bound':
      return {
        title: 'A secret may be sent to another site',
        body: `${event.appName} may now send your secret “${event.secret}” to ${event.origin}. If you didn’t allow this, release the secret, and replace its value where it is from.`,
        priority: 'normal',
        action: { label: 'Review secrets', page: 'secrets' },
      };
  }
}
