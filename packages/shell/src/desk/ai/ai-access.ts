// Whether AI can work for an app at all, and if not, one line that says what to do: for reviews and for Settings.
import type { AccountProvider, RequestedGrant } from '@platform/contract';

/** What an app asks for of AI models, as `<provider>:<model>` patterns; empty for nothing. */
export function askedModels(requested: readonly RequestedGrant[]): readonly string[] {
  return requested.find(({ id }) => id === 'intelligence.use')?.resources ?? [];
}

export const HOW_TO_ADD_ONE = 'The operator can add one in Fleet, also a free model on the platform’s own machine.';

/** @returns `null` where one of the models can be used, or none is asked for */
export function missingForAi(patterns: readonly string[], providers: readonly AccountProvider[]): string | null {
  if (patterns.length === 0) return null;
  if (providers.length === 0) return `This platform has no AI provider yet. ${HOW_TO_ADD_ONE}`;
  const named = providers.filter(({ provider }) => patterns.some((pattern) => namesProvider(pattern, provider)));
  if (named.length === 0) {
    const wanted = [...new Set(patterns.map((pattern) => pattern.split(':')[0] ?? pattern))];
    return `This platform offers no AI provider “${wanted.join('” or “')}”. The operator can add it in Fleet.`;
  }
  if (named.some(({ source }) => source !== null)) return null;
  return `There is no key for ${named.map(({ name }) => name).join(' or ')} yet. Add yours in Settings → AI.`;
}

/** A `<provider>:<model>` pattern: `any of openai`, `gpt-5-mini of openai`. */
export function modelsInWords(pattern: string): string {
  const [, provider, model] = /^([^:*]+):(.+)$/.exec(pattern) ?? [];
  if (provider === undefined || model === undefined)
    return pattern === '*' ? 'any' : `any starting with “${pattern.replace(/\*$/, '')}”`;
  if (model === '*') return `any of ${provider}`;
  return model.endsWith('*') ? `any of ${provider} starting with “${model.slice(0, -1)}”` : `${model} of ${provider}`;
}

/** As core decides it: a `*` at the end stands for anything. */
function namesProvider(pattern: string, provider: string): boolean {
  const beginning = `${provider}:`;
  return pattern.startsWith(beginning) || (pattern.endsWith('*') && beginning.startsWith(pattern.slice(0, -1)));
}
