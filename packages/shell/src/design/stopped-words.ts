// Who stopped a backend, in words; for the shell and for the platform's own apps.
import type { StoppedBy } from '@platform/contract';

/** `Stopped by you`. @param nameOf the name of an installed app */
export function stoppedWords(by: StoppedBy | undefined, nameOf: (appId: string) => string): string {
  switch (by?.kind) {
    case 'owner':
      return 'Stopped by you';
    case 'app':
      return `Stopped by ${by.appId === undefined ? 'an app' : nameOf(by.appId)}`;
    case 'operator':
      return 'Stopped by the operator';
    case 'pause':
      return 'Paused with everything else';
    case 'suspension':
      return 'The operator suspended this account';
    case 'platform':
      return 'Stopped by the platform';
    default:
      return 'Idle';
  }
}

/** What ends it, in one sentence. */
export function stoppedAbout(by: StoppedBy | undefined): string {
  switch (by?.kind) {
    case 'owner':
    case 'app':
    case 'operator':
      return 'It stays stopped until you start it.';
    case 'pause':
      return 'It can run again once you resume everything.';
    case 'suspension':
      return 'Only the operator can end that.';
    case 'platform':
      return '';
    default:
      return 'Starts on demand.';
  }
}

/** Whether the backend rests until a person does something; one that is idle wakes by itself. */
export function needsPerson({
  state,
  stoppedBy,
}: {
  readonly state: string;
  readonly stoppedBy?: StoppedBy | undefined;
}): boolean {
  return state === 'failed' || (state === 'stopped' && stoppedBy !== undefined && stoppedBy.kind !== 'idle');
}
