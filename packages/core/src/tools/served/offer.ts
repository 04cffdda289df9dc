// What a serving app says that it offers, made fit to be shown and passed on: everything of it is hostile text. What is no valid
// definition is left out; the rest of the offer stands.
import { limits } from '@platform/contract';
import * as z from 'zod';
import { APP_NAME, plainLine, plainText, TITLE } from './app-text.ts';
import type { OfferedPrompt, OfferedResource, OfferedTemplate } from './offered-content.ts';
import { isUsableSchema } from './usable-schema.ts';

const annotations = z
  .object({
    readOnlyHint: z.boolean().optional().catch(undefined),
    destructiveHint: z.boolean().optional().catch(undefined),
    idempotentHint: z.boolean().optional().catch(undefined),
    openWorldHint: z.boolean().optional().catch(undefined),
  })
  .catch({});

const schema = z.looseObject({ type: z.literal('object') });

const definition = z.object({
  name: z.string().regex(APP_NAME),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: schema,
  outputSchema: schema.optional(),
  annotations: annotations.optional(),
});

/** A tool as its app defines it, by the name that it has there. */
export interface OfferedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: { readonly type: 'object'; readonly [member: string]: unknown };
  readonly outputSchema?: { readonly type: 'object'; readonly [member: string]: unknown };
  readonly annotations: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
}

/** What one app offers. */
export interface Offer {
  /** By name. */
  readonly tools: readonly OfferedTool[];
  /** Resources and templates by URI, prompts by name; absent where its server declares none. */
  readonly resources?: readonly OfferedResource[];
  readonly templates?: readonly OfferedTemplate[];
  readonly prompts?: readonly OfferedPrompt[];
  /** Its server completes arguments of prompts and templates. */
  readonly completions?: true;
  /** Its server says what it does while it works. */
  readonly logging?: true;
}

/** @param listed the items of `tools/list`, whatever they are */
export function readTools(listed: readonly unknown[]): OfferedTool[] {
  const named = new Map<string, OfferedTool | null>();
  for (const one of listed) {
    const tool = readTool(one);
    // Which of two is meant nobody can know.
    if (tool !== null) named.set(tool.name, named.has(tool.name) ? null : tool);
  }
  return [...named.values()]
    .filter((tool) => tool !== null)
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, limits.toolsPerAccount.value);
}

function readTool(listed: unknown): OfferedTool | null {
  const result = definition.safeParse(listed);
  if (!result.success) return null;
  const { name, title, description, inputSchema, outputSchema, annotations: hints = {} } = result.data;
  if (![inputSchema, outputSchema].every((one) => one === undefined || isUsableSchema(one))) return null;
  return {
    name,
    ...(title === undefined ? {} : { title: plainLine(title, TITLE) }),
    ...(description === undefined ? {} : { description: plainText(description, limits.toolDescription.value) }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: JSON.parse(JSON.stringify(hints)),
  };
}
