// What a serving app says that it offers, made fit to be shown and passed on: everything of it is hostile text. What is no valid
// definition is left out; the rest of the offer stands.
import { limits } from '@platform/contract';
import * as z from 'zod';
import { isUsableSchema } from './usable-schema.ts';

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
/** Controls, and what turns the direction of the text around it. */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const TITLE = 128;

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
  name: z.string().regex(NAME),
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

/** Without control characters, cut at so many bytes. */
export function plainText(text: string, bytes: number): string {
  const plain = text.toWellFormed().replaceAll(CONTROL, (one) => (one === '\n' || one === '\t' ? one : ''));
  if (Buffer.byteLength(plain) <= bytes) return plain;
  const cut = Buffer.from(plain)
    .subarray(0, bytes - 3)
    .toString('utf8');
  // The last character may have been cut in two.
  return `${cut.replace(/\ufffd+$/, '')}…`;
}

function plainLine(text: string, bytes: number): string {
  return plainText(text.replaceAll(/\s+/g, ' ').trim(), bytes);
}
