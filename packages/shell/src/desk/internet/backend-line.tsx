// What happens to a public request now, as far as the backend behind it decides that.
import type { WorkloadStatus } from '@platform/contract';
import { addressOf, settingsAt } from '../../address/view.ts';

interface BackendLineProps {
  readonly appId: string;
  readonly name: string;
  /** `null` while the backend may not run. */
  readonly status: WorkloadStatus | null;
  /** Its owner stopped it, so that no request starts it. */
  readonly held: boolean;
  /** It has routes: requests start it, as packets to a UDP port do not. */
  readonly wakes: boolean;
}

export function BackendLine({ appId, ...shown }: BackendLineProps) {
  const { name, status, held } = shown;
  const { dot, text } = words(shown);
  return (
    <p class="internet-state" role="status">
      <span class={`dot ${dot}`} aria-hidden="true" />
      <span>
        {text}{' '}
        {(status === null || held || status.state === 'failed') && (
          <a class="link" href={addressOf(settingsAt('apps/:appId', { appId }))}>
            Go to {name}
          </a>
        )}
      </span>
    </p>
  );
}

function words({ name, status, held, wakes }: Omit<BackendLineProps, 'appId'>): {
  readonly dot: string;
  readonly text: string;
} {
  if (status === null) {
    return { dot: 'failed', text: `The backend of ${name} is off until you allow it, so nothing is open.` };
  }
  if (held) return { dot: 'stopped', text: `You stopped ${name}, so nothing is open until you start it.` };
  switch (status.state) {
    case 'running':
      return { dot: 'running', text: `${name} is running.` };
    case 'starting':
      return { dot: 'starting', text: `${name} is starting: requests wait for it.` };
    case 'stopped':
      return {
        dot: 'stopped',
        text: wakes
          ? `${name} isn’t running. The next request starts it.`
          : `${name} isn’t running, so its ports are closed.`,
      };
    case 'failed':
      return { dot: 'failed', text: `${name} has failed, so requests get an error. ${status.reason ?? ''}` };
  }
}
