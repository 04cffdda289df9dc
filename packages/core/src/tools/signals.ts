// The signals of tools: that an account has others than before, and that something was proposed or decided.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** An app of the account offers other tools, resources or prompts. */
    'tools-changed': { readonly accountKey: string };
    'proposals-changed': { readonly accountKey: string };
  }
}

export const signals = { 'tools-changed': {}, 'proposals-changed': {} } satisfies OwnedSignals;
