// The tools of the platform itself: routes that apps and agents may also call as tools (contract 4g). Each domain offers its own
// (`Domain.tools`), and the hub calls the handler of the route, with its grant and its rate (http/server/in-process.ts).
import { type RouteId, routes } from '@platform/contract';
import * as z from 'zod';
import type { InProcessCall } from './http/server/in-process.ts';

export interface BuiltInTool {
  /** Contract 4g has them all. */
  readonly name: `platform-${string}.${string}`;
  readonly title: string;
  /** For a model, which chooses by it. */
  readonly description: string;
  readonly route: RouteId;
  /** What a call does at most; `speaks` for the person to others. */
  readonly effect: 'reads' | 'changes' | 'speaks';
  /**
   * `own-clients`: for those that the person connected and agents, `apps`: for apps alone, `proposers`: for those that may propose
   * anything. Default: for all that were granted it.
   */
  readonly for?: 'own-clients' | 'apps' | 'proposers';
  readonly arguments: z.ZodType;
  /** Where the arguments of the tool stand in a request for its route. */
  place(given: unknown): Pick<InProcessCall, 'params' | 'query' | 'body'>;
}

/** @typeParam Arguments as their schema reads them */
export function builtInTool<Arguments extends z.ZodType>(
  tool: Omit<BuiltInTool, 'arguments' | 'place'> & {
    readonly arguments: Arguments;
    place(given: z.output<Arguments>): ReturnType<BuiltInTool['place']>;
  },
): BuiltInTool {
  return { ...tool, place: (given) => tool.place(given as z.output<Arguments>) };
}

/** JSON Schema (2020-12) of what a built-in tool answers: that of the first answer of its route. */
export function answerSchema({ route }: BuiltInTool): object {
  const { answers } = routes[route];
  const schema: unknown = Object.values(answers)[0];
  if (!(schema instanceof z.ZodType)) throw new Error(`${route} answers with no JSON`);
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
}

/** The tools of all domains. */
export class BuiltInTools {
  #tools: ReadonlyMap<string, BuiltInTool> = new Map();

  /** Called once, when the domains are there. */
  follow(domains: readonly { readonly tools?: readonly BuiltInTool[] }[]): void {
    const all = domains.flatMap(({ tools = [] }) => tools);
    this.#tools = new Map(all.map((tool) => [tool.name, tool]));
    if (this.#tools.size < all.length) throw new Error('two built-in tools have one name');
  }

  get all(): readonly BuiltInTool[] {
    return [...this.#tools.values()];
  }

  find(name: string): BuiltInTool | undefined {
    return this.#tools.get(name);
  }
}
