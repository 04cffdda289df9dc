// Resources and prompts as a serving app lists them, made fit to be shown: everything of it is hostile text. What is no valid definition
// is left out, as is what is listed twice; icons and `_meta` are dropped.
import { limits } from '@platform/contract';
import * as z from 'zod';
import { APP_NAME, plainLine, plainText, TITLE } from './app-text.ts';

/** Of a prompt. */
const ARGUMENTS = 64;

/** An absolute URI or a template of one (RFC 6570), without white space and anything beyond ASCII. */
export const appUri = z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2000}$/);
const title = z
  .string()
  .transform((text) => plainLine(text, TITLE))
  .optional()
  .catch(undefined);
const description = z
  .string()
  .transform((text) => plainText(text, limits.toolDescription.value))
  .optional()
  .catch(undefined);
const name = z.string().transform((text) => plainLine(text, TITLE));
const mimeType = z
  .string()
  .regex(/^[\w.+-]{1,64}\/[\w.+-]{1,64}(?:; ?[\w.-]{1,32}=[\w.+-]{1,64})?$/)
  .optional()
  .catch(undefined);
const annotations = z
  .object({
    audience: z
      .array(z.enum(['user', 'assistant']))
      .max(2)
      .optional()
      .catch(undefined),
    priority: z.number().min(0).max(1).optional().catch(undefined),
    lastModified: z.iso.datetime({ offset: true }).optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

const resource = z.object({
  uri: appUri,
  ...{ name, title, description, mimeType, annotations },
  size: z.int().nonnegative().optional().catch(undefined),
});
const template = z.object({ uriTemplate: appUri, name, title, description, mimeType, annotations });
const prompt = z.object({
  name: z.string().regex(APP_NAME),
  ...{ title, description },
  arguments: z
    .array(
      z.object({
        name: z.string().regex(/^[\w.-]{1,128}$/),
        ...{ title, description },
        required: z.boolean().optional().catch(undefined),
      }),
    )
    .max(ARGUMENTS)
    .optional(),
});

export type OfferedResource = z.infer<typeof resource>;
export type OfferedTemplate = z.infer<typeof template>;
export type OfferedPrompt = z.infer<typeof prompt>;

/** @param listed the items of `resources/list`, whatever they are */
export function readResources(listed: readonly unknown[]): OfferedResource[] {
  return read(listed, resource, ({ uri }) => uri);
}

/** @param listed the items of `resources/templates/list` */
export function readTemplates(listed: readonly unknown[]): OfferedTemplate[] {
  return read(listed, template, ({ uriTemplate }) => uriTemplate);
}

/** @param listed the items of `prompts/list` */
export function readPrompts(listed: readonly unknown[]): OfferedPrompt[] {
  return read(listed, prompt, (one) => one.name);
}

function read<Schema extends z.ZodType>(
  listed: readonly unknown[],
  schema: Schema,
  keyOf: (one: z.infer<Schema>) => string,
): z.infer<Schema>[] {
  const byKey = new Map<string, z.infer<Schema> | null>();
  for (const one of listed) {
    const result = schema.safeParse(one);
    if (!result.success) continue;
    const key = keyOf(result.data);
    // Which of two is meant nobody can know. What is undefined is absent in JSON.
    byKey.set(key, byKey.has(key) ? null : JSON.parse(JSON.stringify(result.data)));
  }
  return [...byKey.entries()]
    .flatMap(([key, one]) => (one === null ? [] : [{ key, one }]))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .slice(0, limits.appContent.value)
    .map(({ one }) => one);
}
