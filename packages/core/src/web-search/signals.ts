// The signal of agents' web searches.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** An agent asks its person, or the person answered or took a consent back. */
    'agent-changed': { installationId: string; accountKey: string; appId: string };
  }
}

export const signals = { 'agent-changed': {} } satisfies OwnedSignals;
