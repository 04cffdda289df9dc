// What an app asks of the client that uses it, in the middle of a request (`input_required`): passed on as the app's question, so that
// nobody takes it for the platform's.
import {
  type InputRequest,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { limits, refuse, sizeText } from '@platform/contract';
import { isPublicHost } from '@platform/http';
import * as z from 'zod';
import { type CoreConfig, connectOrigin } from '../../config/config.ts';
import type { CoreContext } from '../../context.ts';
import { plainText, plainTexts } from '../served/app-text.ts';
import type { Serving } from '../served/served-tools.ts';
import type { ClientSide } from './client-side.ts';
import { passable } from './passable.ts';

/** Questions of one answer. */
const QUESTIONS = 16;
const LONGEST_ADDRESS = 2_048;
/** As long as a person may take to answer. */
const STATE_MILLISECONDS = 3_600_000;

const object = z.looseObject({});
const question = z.discriminatedUnion('method', [
  z.object({ method: z.literal('elicitation/create'), params: z.looseObject({ message: z.string() }) }),
  z.object({ method: z.literal('sampling/createMessage'), params: object }),
  z.object({ method: z.literal('roots/list'), params: object.optional() }),
]);
const questions = z.record(z.string().regex(/^[\w.-]{1,128}$/), question);

/** What a state belongs to: the caller, the app, and the very request. */
export function stateKey(caller: string, { id }: Pick<Serving, 'id'>, request: string): string {
  return `tool-state:${caller}:${id}:${request}`;
}

/**
 * What the app gave to remember.
 *
 * @throws ProtocolError for a state of another caller, app or request, a changed or an old one
 */
export function readState(
  { cursors, clock }: Pick<CoreContext, 'cursors' | 'clock'>,
  key: string,
  given: string | undefined,
): string | undefined {
  if (given === undefined) return undefined;
  try {
    const [state, until] = cursors.decode(key, given) as readonly [string, number];
    if (until > clock().getTime()) return state;
  } catch {
    // Which was not given for this.
  }
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
}

/**
 * @param key of what the state belongs to
 * @throws RefusalError `upstream_failed` for a question that cannot be passed on
 * @throws MissingRequiredClientCapabilityError for one that the client does not declare
 */
export function passQuestions(
  { config, cursors, clock }: Pick<CoreContext, 'config' | 'cursors' | 'clock'>,
  serving: Pick<Serving, 'app_id' | 'name'>,
  client: ClientSide,
  key: string,
  answer: InputRequiredResult,
): InputRequiredResult {
  if (!client.modern) throw wrong('asks for something that this client cannot be asked in its revision');
  const { inputRequests, requestState } = passable(answer);
  if (Buffer.byteLength(JSON.stringify([inputRequests, requestState])) > limits.appInput.value)
    throw wrong(`asks for something with more than ${sizeText(limits.appInput.value)}`);
  const read = questions.safeParse(inputRequests ?? {});
  if (!read.success || Object.keys(read.data).length > QUESTIONS) throw wrong('asks for something that it cannot');
  if (Object.keys(read.data).length === 0 && requestState === undefined) throw wrong('asks for nothing');
  const passed = Object.entries(read.data).map(([name, one]) => [name, passQuestion(config, serving, client, one)]);
  return {
    resultType: 'input_required',
    ...(passed.length === 0 ? {} : { inputRequests: Object.fromEntries(passed) }),
    ...(requestState === undefined
      ? {}
      : { requestState: cursors.encode(key, [requestState, clock().getTime() + STATE_MILLISECONDS]) }),
  };
}

function passQuestion(
  config: Pick<CoreConfig, 'origin'>,
  { app_id: appId, name }: Pick<Serving, 'app_id' | 'name'>,
  { capabilities }: ClientSide,
  { method, params = {} }: z.infer<typeof question>,
): InputRequest {
  const own = { _meta: { 'platform/app': { id: appId, name } } };
  if (method === 'roots/list') {
    if (capabilities.roots === undefined) throw missing('roots', {});
    return { method, params: own } as InputRequest;
  }
  if (method === 'sampling/createMessage') {
    if (capabilities.sampling === undefined) throw missing('sampling', {});
    const { includeContext: _context, systemPrompt, ...rest } = params as Readonly<Record<string, unknown>>;
    const prompt = typeof systemPrompt === 'string' ? { systemPrompt: plainText(systemPrompt, DESCRIPTION) } : {};
    return { method, params: { ...rest, ...prompt, ...own } } as unknown as InputRequest;
  }
  const { mode = 'form', message, url, requestedSchema } = params as Readonly<Record<string, unknown>>;
  const text = plainText(String(message), DESCRIPTION);
  if (mode === 'url') {
    if (capabilities.elicitation?.url === undefined) throw missing('elicitation', { url: {} });
    const address = foreignAddress(config, url);
    const asks = `[${appId} asks, not this platform, to open a page at ${address.hostname}:] ${text}`;
    return { method, params: { mode, message: asks, url: address.href, ...own } } as unknown as InputRequest;
  }
  if (mode !== 'form') throw wrong('asks in a way that the protocol does not have');
  if (capabilities.elicitation?.form === undefined) throw missing('elicitation', { form: {} });
  const asks = `[${appId} asks, not this platform:] ${text}`;
  const schema = plainTexts(requestedSchema, DESCRIPTION);
  return { method, params: { mode, message: asks, requestedSchema: schema, ...own } } as unknown as InputRequest;
}

const DESCRIPTION = limits.toolDescription.value;

/**
 * Where an app may send a person: not to this platform, whose pages would seem to be what asks, and to nothing on their computer or in their
 * network.
 */
function foreignAddress(config: Pick<CoreConfig, 'origin'>, given: unknown): URL {
  if (typeof given !== 'string' || given.length > LONGEST_ADDRESS || !URL.canParse(given))
    throw wrong('asks to open an address that is none');
  const url = new URL(given);
  if (url.protocol !== 'https:') throw wrong('asks to open an address that is not https');
  if (url.username !== '' || url.password !== '')
    throw wrong('asks to open an address with a name or a password in it');
  // `URL` keeps a dot at the end, and a resolver does not.
  const host = url.hostname.replace(/\.+$/, '');
  if ([config.origin, connectOrigin(config)].some((origin) => new URL(origin).hostname === host))
    throw wrong('asks to open a page of this platform');
  if (!isPublicHost(url.hostname)) throw wrong('asks to open an address that is not public');
  return url;
}

function wrong(what: string) {
  return refuse('upstream_failed', `The app ${what}.`);
}

function missing(capability: string, members: object): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { [capability]: members } },
    `The app asks for something that needs the capability ${capability} of the client.`,
  );
}
