// JSON Schema of the contract's zod schemas, as tools of every language read it.
import * as z from 'zod';
import { portablePattern } from '../portable-patterns.ts';

export type Json = { [key: string]: unknown };

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => withPortablePatterns(jsonSchema),
  });
  return rest as Json;
}

/** What a pattern cannot say to every tool, core checks all the same. */
function withPortablePatterns(schema: Json): void {
  if (typeof schema.pattern === 'string') {
    const pattern = portablePattern(schema.pattern);
    if (pattern === undefined) delete schema.pattern;
    else schema.pattern = pattern;
  }
  if (!Array.isArray(schema.allOf)) return;
  for (const part of schema.allOf) withPortablePatterns(part);
  schema.allOf = schema.allOf.filter((part) => Object.keys(part).length > 0);
  if (Array.isArray(schema.allOf) && schema.allOf.length === 0) delete schema.allOf;
}
