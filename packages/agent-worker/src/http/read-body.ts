// What a request brings, read by a schema and refused in words.
import type { IncomingMessage } from 'node:http';
import { agents } from '@platform/contract/agents';
import type * as z from 'zod';
import { Refusal } from './refusal.ts';

/** @throws Refusal */
export async function readBody<Schema extends z.ZodType>(
  request: IncomingMessage,
  schema: Schema,
): Promise<z.output<Schema>> {
  const parsed = schema.safeParse(await readJson(request));
  if (!parsed.success) throw invalid(parsed.error);
  return parsed.data;
}

/** @throws Refusal */
export function readQuery<Schema extends z.ZodType>(url: URL, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(Object.fromEntries(url.searchParams));
  if (!parsed.success) throw invalid(parsed.error);
  return parsed.data;
}

function invalid({ issues }: z.ZodError): Refusal {
  const errors = issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = errors;
  const where = first === undefined || first.path === '' ? 'The request' : first.path;
  return new Refusal('invalid_request', `${where}: ${first?.message ?? 'is not valid'}.`, { errors });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > agents.limits.agentRequest.value) throw new Refusal('payload_too_large');
    parts.push(part);
  }
  if (size === 0) return {};
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal('unsupported_media_type', 'Send JSON, as application/json.');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
  } catch {
    throw new Refusal('invalid_request', 'The body is not JSON in UTF-8.');
  }
}
