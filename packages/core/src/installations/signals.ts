// The signals of this part: that installed apps changed.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** Grants, version, place or existence of an installation changed: forget what is cached of it. */
    'installation-changed': { installationId: string; accountKey: string };
    /** The account chose another home screen. */
    'launcher-changed': { accountKey: string };
    /** Volumes or objects of deleted accounts wait for their deletion. */
    'data-abandoned': Record<string, never>;
  }
}

export const signals = {
  'installation-changed': {
    sentBy: { nodes: 'the address of its node changed', placement: 'it moved to another node' },
  },
  'launcher-changed': {},
  'data-abandoned': {},
} satisfies OwnedSignals;
