// Which AI providers an installation may use, as far as its node and its Gateway know: those that its grants name.
import type { CoreContext } from '../context.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { PolicyPart } from '../policy.ts';

/** Whether a pattern names any model of the provider. */
export function namesProvider(pattern: string, provider: string): boolean {
  const beginning = `${provider}:`;
  return pattern.startsWith(beginning) || (pattern.endsWith('*') && beginning.startsWith(pattern.slice(0, -1)));
}

export function originOfProvider({ baseUrl }: { readonly baseUrl: string }): string {
  return new URL(baseUrl).origin;
}

/** Providers that the grants name, in the operator's order: for the node, for the Gateway, and where they are. */
export function intelligencePolicy({ settings }: Pick<CoreContext, 'settings'>): PolicyPart {
  return ({ grants }) => {
    const { providers, bodyBytes } = settings.now.intelligence;
    const models = resourcesOf(grants, 'intelligence.use');
    const named = providers.filter(({ id }) => models.some((pattern) => namesProvider(pattern, id)));
    if (named.length === 0) return {};
    const dialects = Object.fromEntries(named.map(({ id, dialect }) => [id, dialect]));
    return {
      node: { intelligence: named.map(({ id, dialect, environment }) => ({ provider: id, dialect, environment })) },
      gateway: { intelligence: { dialects, bodyBytes, models } },
      privateOrigins: named.map(originOfProvider),
    };
  };
}
