// The arguments of a call as the session shows them: the model goes on with all of them, people see where a long text goes on.
import { agents } from '@platform/contract/agents';
import { cutText } from './foreign-text.ts';

/** Deeper ones stay as they are: arguments of tools are shallow. */
const MOST_LEVELS = 8;

/** Long texts in it are cut, so that a session with whole files in its calls can be read. */
export function shownArguments(value: unknown, levels = MOST_LEVELS): unknown {
  if (typeof value === 'string') return cutText(value, agents.limits.agentShownText.value).text;
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((one) => shownArguments(one, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shownArguments(one, levels - 1)]));
}
