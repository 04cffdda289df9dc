// What a call asks for, read from its body: the model, how many tokens it may be answered with, whether it is streamed.
import { modelId, refuse } from '@platform/contract';
import type { Endpoint } from './endpoints.ts';
import { elementCount, findMembers, type Members, memberValue, UnreadableBody, withMembers } from './json-members.ts';
import { modelOfMultipart } from './multipart-model.ts';

export interface Asked {
  /** What a grant must cover; `null` for the provider as a whole. */
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

/** Of a call that is refused whatever it asks for. */
export const UNREAD: Asked = { model: null, outputLimit: 0, copies: 1, members: null, hidesUsage: false };

interface Sent {
  readonly method: string;
  /** Empty for none. */
  readonly contentType: string;
  /** `null` for none. */
  readonly body: Buffer | null;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/gi;
const MULTIPART = /^multipart\/form-data\b/i;
const MOST_COPIES = 1_024;

/** Whatever an endpoint takes for its limit: model servers read each other's names, and some prefer them. */
const LIMITS = [
  ...['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_tokens_to_sample'],
  ...['max_new_tokens', 'n_predict', 'num_predict'],
];
const COPIES = ['n', 'best_of', 'n_cmpl', 'num_return_sequences'];
/** Each would let the provider choose another model than the one that was granted. */
const MORE_MODELS = ['models', 'fallbacks', 'fallback_models'];
const SWITCHES = ['stream', 'background'];

/** @throws RefusalError `invalid_request`, `unsupported_media_type` */
export async function readAsked({ method, contentType, body }: Sent, endpoint: Endpoint): Promise<Asked> {
  const asked = { ...UNREAD, outputLimit: endpoint.generates ? null : 0, model: endpoint.model };
  if (body === null || body.length === 0) return asked;
  // What other methods do is said by their path, and no provider looks for a model in their body.
  if (method !== 'POST') return asked;
  try {
    if (MULTIPART.test(contentType)) {
      const model = checked(modelOfMultipart(body, contentType));
      return { ...asked, model: endpoint.runsModel ? model : null };
    }
    if (contentType !== '' && !JSON_TYPE.test(contentType))
      throw refuse('unsupported_media_type', 'Send application/json, or a file as multipart/form-data.');
    if ([...contentType.matchAll(CHARSET)].some(([, charset = '']) => !/^utf-?8$/i.test(charset)))
      throw refuse('unsupported_media_type', 'Send JSON in UTF-8.');
    return await readJson(body, endpoint);
  } catch (error) {
    if (error instanceof UnreadableBody) throw refuse('invalid_request', error.message);
    throw error;
  }
}

async function readJson(body: Buffer, endpoint: Endpoint): Promise<Asked> {
  const { reportsOnRequest, generates, runsModel, lists } = endpoint;
  const single = ['model', 'stream_options', ...SWITCHES, ...MORE_MODELS, ...LIMITS, ...COPIES];
  const members = await findMembers(body, new Set([...single, ...lists]));
  const model = checked(memberValue(members, 'model') ?? null);
  if (model === null) throw refuse('invalid_request', 'Name the model as the member model.');
  const other = MORE_MODELS.find((name) => memberValue(members, name) != null);
  if (other !== undefined)
    throw refuse('invalid_request', `Name one model, as the member model, and none as ${other}.`);
  for (const name of SWITCHES) {
    const value = memberValue(members, name);
    if (value != null && typeof value !== 'boolean') throw refuse('invalid_request', `${name} must be true or false.`);
  }
  if (memberValue(members, 'background') === true)
    throw refuse('invalid_request', 'Background calls are not offered, because their tokens could not be counted.');
  const options = memberValue(members, 'stream_options');
  if (options != null && (typeof options !== 'object' || Array.isArray(options)))
    throw refuse('invalid_request', 'stream_options must be an object.');
  const asksForUsage = options != null && Reflect.get(options, 'include_usage') === true;
  const copies = await copiesOf(members, lists);
  return {
    model: runsModel ? model : null,
    outputLimit: generates ? limitOf(members, copies) : 0,
    copies,
    members,
    hidesUsage: reportsOnRequest && memberValue(members, 'stream') === true && !asksForUsage,
  };
}

async function copiesOf(members: Members, lists: readonly string[]): Promise<number> {
  let copies = Math.max(1, ...COPIES.flatMap((name) => wholeNumber(members, name) ?? []));
  for (const name of lists) copies *= await elementCount(members, name, MOST_COPIES);
  if (copies > MOST_COPIES) throw refuse('invalid_request', `At most ${MOST_COPIES} answers can be asked for at once.`);
  return copies;
}

/** The largest of all that may count; `null` without one, and where all are 0, which some servers take for none. */
function limitOf(members: Members, copies: number): number | null {
  const largest = Math.max(0, ...LIMITS.flatMap((name) => wholeNumber(members, name) ?? []));
  return largest === 0 ? null : largest * copies;
}

/**
 * The members that say what is reserved: in place of every limit that is 0, and of none that its endpoint reads.
 *
 * @param each tokens of one answer
 */
function limitsToWrite(members: Members, [first, ...others]: readonly string[], each: number): Record<string, number> {
  if (first === undefined) return {};
  const own = [first, ...others];
  const zeros = LIMITS.filter((name) => memberValue(members, name) === 0);
  const isLimited = own.some((name) => Number(memberValue(members, name) ?? 0) > 0 || zeros.includes(name));
  const written = isLimited ? zeros : [own.find((name) => memberValue(members, name) === null) ?? first, ...zeros];
  return Object.fromEntries(written.map((name) => [name, each]));
}

/** @throws RefusalError `invalid_request` for what is no name of a model */
function checked(model: unknown): string | null {
  if (model === null) return null;
  const known = modelId.safeParse(model);
  if (!known.success)
    throw refuse('invalid_request', 'The model must be a name of 1 to 200 characters without spaces.');
  return known.data;
}

function wholeNumber(members: Members, name: string): number | null {
  const value = memberValue(members, name);
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 1e9) return value;
  throw refuse('invalid_request', `${name} must be a whole number.`);
}

/**
 * The body with what the platform adds to it: that a stream reports its usage, and the limit of the output, unless the call
 * has one.
 *
 * @param reservedOutput tokens that are reserved for all answers together, at least one for each
 */
export function bodyToSend(
  body: Buffer | null,
  call: {
    readonly asked: Asked;
    readonly endpoint: Endpoint;
    readonly reservedOutput: number;
    /** The provider takes `stream_options`. */
    readonly streamUsage: boolean;
  },
): Buffer | null {
  const { asked, endpoint, reservedOutput, streamUsage } = call;
  const { members, copies } = asked;
  if (members === null) return body;
  const values: Record<string, unknown> = endpoint.generates
    ? limitsToWrite(members, endpoint.limits, Math.max(1, Math.floor(reservedOutput / copies)))
    : {};
  if (asked.hidesUsage && streamUsage) {
    const options = memberValue(members, 'stream_options');
    values.stream_options = { ...(typeof options === 'object' ? options : {}), include_usage: true };
  }
  return Object.keys(values).length === 0 ? body : withMembers(members, values);
}
