// What an app asks for of AI models, in words: for reviews and for Settings.
import type { RequestedGrant } from '@platform/contract';

/** What an app asks for of AI models, as `<provider>:<model>` patterns; empty for nothing. */
export function askedModels(requested: readonly RequestedGrant[]): readonly string[] {
  return requested.find(({ id }) => id === 'intelligence.use')?.resources ?? [];
}

/** A `<provider>:<model>` pattern: `any of openai`, `gpt-5-mini of openai`. */
export function modelsInWords(pattern: string): string {
  const [, provider, model] = /^([^:*]+):(.+)$/.exec(pattern) ?? [];
  if (provider === undefined || model === undefined)
    return pattern === '*' ? 'any' : `any starting with “${pattern.replace(/\*$/, '')}”`;
  if (model === '*') return `any of ${provider}`;
  return model.endsWith('*') ? `any of ${provider} starting with “${model.slice(0, -1)}”` : `${model} of ${provider}`;
}
