// What a profile of the agent is called.
import type { AgentProfile } from '@platform/sdk/browser';

export const MAIN = 'main';
/** Of the one that is always there, until its person calls it something else. */
const MAIN_NAME = 'Personal Agent';

export function nameOf(id: string, profiles: readonly AgentProfile[]): string {
  const found = profiles.find((one) => one.id === id);
  if (found === undefined) return id === MAIN ? MAIN_NAME : 'An agent that was deleted';
  return found.name === '' ? MAIN_NAME : found.name;
}
