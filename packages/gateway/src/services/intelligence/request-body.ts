// What a call asks for, read from its body: the model, how many tokens it may be answered with, whether it is streamed.
import { modelId, refuse } from '@platform/contract';
import type { Endpoint } from './dialect.ts';
import { findMembers, type Members, memberValue, UnreadableBody } from './json-members.ts';
import { modelOfMultipart } from './multipart-model.ts';

export interface Asked {
  /** `null` for a call that names none. */
  readonly model: string | null;
  /** `null` when it sets no limit, 0 for a call that is answered with none. */
  readonly outputLimit: number | null;
  /** Answers that the limit counts for, each. */
  readonly copies: number;
  /** Of a JSON body. */
  readonly members: Members | null;
  /** It is streamed, and the caller did not ask for its usage. */
  readonly hidesUsage: boolean;
}

interface Sent {
  readonly method: string;
  /** Empty for none. */
  readonly contentType: string;
  /** `null` for none. */
  readonly body: Buffer | null;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const MULTIPART = /^multipart\/form-data\b/i;
const MOST_COPIES = 1_024;

/** @throws RefusalError `invalid_request`, `unsupported_media_type` */
export async function readAsked({ method, contentType, body }: Sent, endpoint: Endpoint): Promise<Asked> {
  const asked = { outputLimit: endpoint.generates ? null : 0, copies: 1, members: null, hidesUsage: false };
  if (body === null || body.length === 0) return { ...asked, model: endpoint.model };
  try {
    if (MULTIPART.test(contentType)) return { ...asked, model: checked(modelOfMultipart(body, contentType)) };
    if (contentType !== '' && !JSON_TYPE.test(contentType))
      throw refuse('unsupported_media_type', 'Send application/json, or a file as multipart/form-data.');
    return await readJson({ method, body }, endpoint);
  } catch (error) {
    if (error instanceof UnreadableBody) throw refuse('invalid_request', error.message);
    throw error;
  }
}

async function readJson(
  { method, body }: { readonly method: string; readonly body: Buffer },
  endpoint: Endpoint,
): Promise<Asked> {
  const { limits, copies: counted, reportsOnRequest, generates } = endpoint;
  const names = new Set(['model', 'stream', 'stream_options', ...limits, ...counted]);
  const members = await findMembers(body, names);
  const model = checked(memberValue(members, 'model') ?? null) ?? endpoint.model;
  if (model === null && method === 'POST') throw refuse('invalid_request', 'Name the model as the member model.');
  const limited = limits.flatMap((name) => wholeNumber(name, memberValue(members, name)) ?? []);
  const copies = Math.max(1, ...counted.flatMap((name) => wholeNumber(name, memberValue(members, name)) ?? []));
  if (copies > MOST_COPIES) throw refuse('invalid_request', `At most ${MOST_COPIES} answers can be asked for at once.`);
  const options = memberValue(members, 'stream_options');
  if (options != null && (typeof options !== 'object' || Array.isArray(options)))
    throw refuse('invalid_request', 'stream_options must be an object.');
  const asksForUsage = options != null && Reflect.get(options, 'include_usage') === true;
  return {
    model,
    outputLimit: limited.length > 0 ? Math.max(...limited) * copies : generates ? null : 0,
    copies,
    members,
    hidesUsage: reportsOnRequest && memberValue(members, 'stream') === true && !asksForUsage,
  };
}

/** @throws RefusalError `invalid_request` for what is no name of a model */
function checked(model: unknown): string | null {
  if (model === null) return null;
  const known = modelId.safeParse(model);
  if (!known.success)
    throw refuse('invalid_request', 'The model must be a name of 1 to 200 characters without spaces.');
  return known.data;
}

function wholeNumber(name: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 1e9) return value;
  throw refuse('invalid_request', `${name} must be a whole number.`);
}
