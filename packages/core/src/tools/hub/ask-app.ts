// One request to the server of an app for a caller: within its chain and its time, and what comes back as the app's.
import { type Client, ProtocolError as OfBackend, type RequestOptions } from '@modelcontextprotocol/client';
import {
  type InputRequiredResult,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { limits, RefusalError, refuse } from '@platform/contract';
import { argumentsHash } from '../arguments-hash.ts';
import { lengthen, present } from '../chain.ts';
import { plainLine, plainText, plainTexts, TITLE } from '../served/app-text.ts';
import { withBackend } from '../served/backend-session.ts';
import type { Serving } from '../served/served-tools.ts';
import type { ToolCaller } from '../tool-caller.ts';
import type { ClientSide } from './client-side.ts';
import type { Hub } from './hub-tool.ts';
import { passQuestions, readState, stateKey } from './input-required.ts';
import { passable } from './passable.ts';
import { lookAfterCall } from './tool-changes.ts';

/** Bytes of what an app says of a request that it refuses, and of a text that it says of its work. */
const LONGEST_ERROR = 4_096;

export interface AppRequest {
  readonly caller: ToolCaller;
  /** The caller as it is now; rejects when it has ended. */
  readonly stillAllowed: () => Promise<ToolCaller>;
  /** As the caller presented it. */
  readonly chain: string | undefined;
  /** Cancels the request. */
  readonly signal: AbortSignal;
  readonly client: ClientSide;
}

/** What a request to an app has of the one that the hub got. */
export type RequestOf = (context: ServerContext) => AppRequest;

/** What is asked: of which of the app's things, and with what. */
export interface Asked {
  /** Of the record, e.g. `notes.add`. */
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Members of the request's `params` beside its own. */
export type MoreParams = Readonly<Record<string, unknown>> & { readonly _meta?: Record<string, unknown> };

/**
 * @param ask the request itself, with `more` among its parameters
 * @throws RefusalError when the app does not answer, or not as the protocol asks
 * @throws ProtocolError when the app refuses
 */
export async function askApp<Result extends object>(
  hub: Hub,
  serving: Serving,
  request: AppRequest,
  { name, given }: Asked,
  ask: (client: Client, more: MoreParams, options: RequestOptions) => Promise<Result>,
): Promise<Result | InputRequiredResult> {
  const { caller, stillAllowed, chain, signal, client: asking } = request;
  const links = lengthen(hub, caller.id, chain, serving.id);
  const key = stateKey(caller.id, serving, argumentsHash(name, given).toString('hex'));
  const more = moreOf(asking, readState(hub, key, asking.requestState));
  const late = new AbortController();
  const tooLate = (seconds: number): void =>
    late.abort(refuse('upstream_timeout', `The app did not answer within ${seconds} seconds.`));
  const first = setTimeout(tooLate, limits.toolFirstSignSeconds.value * 1_000, limits.toolFirstSignSeconds.value);
  const all = setTimeout(tooLate, limits.toolSeconds.value * 1_000, limits.toolSeconds.value);
  let answer: Result;
  try {
    const options = {
      ...{ caller: caller.shown, chain: present(hub, links, serving.id) },
      ...{ signal: AbortSignal.any([signal, late.signal]), alive: () => clearTimeout(first) },
      capabilities: asking.capabilities,
      ...(asking.logLevel === undefined ? {} : { onLog: logOf(serving, asking) }),
    };
    await stillAllowed();
    const said = await withBackend(hub, serving, options, (client, over) =>
      ask(client, more, {
        signal: over,
        timeout: limits.toolSeconds.value * 1_000,
        allowInputRequired: true,
        ...(asking.progress === undefined ? {} : { onprogress: asking.progress }),
      }),
    );
    // Questions are passed on below.
    answer = isInputRequiredResult(said) ? said : passable(said);
  } catch (error) {
    if (late.signal.aborted) throw late.signal.reason;
    if (error instanceof RefusalError || signal.aborted) throw error;
    if (error instanceof OfBackend) throw errorOf(error, asking);
    hub.log.info({ installationId: serving.id, err: error }, 'an app answered a request wrongly');
    throw refuse('upstream_failed', 'The app did not answer as the protocol asks.');
  } finally {
    clearTimeout(first);
    clearTimeout(all);
    lookAfterCall(hub, caller.accountKey, serving);
  }
  return isInputRequiredResult(answer) ? passQuestions(hub, serving, asking, key, answer) : answer;
}

function moreOf({ inputResponses, logLevel }: ClientSide, requestState: string | undefined): MoreParams {
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
    ...(logLevel === undefined ? {} : { _meta: { [LOG_LEVEL_META_KEY]: logLevel } }),
  };
}

function logOf({ app_id: appId }: Serving, { log }: ClientSide): ClientSide['log'] {
  return ({ level, data, logger }) =>
    log({
      level,
      data: plainTexts(data, LONGEST_ERROR),
      logger: logger === undefined ? appId : `${appId}: ${plainLine(logger, TITLE)}`,
    });
}

/** The app's own refusal, of whose data nothing passes but what the client lacks. */
function errorOf({ code, message, data }: OfBackend, { modern }: ClientSide): ProtocolError {
  const text = plainText(message, LONGEST_ERROR);
  if (code !== ProtocolErrorCode.MissingRequiredClientCapability || !modern) return new ProtocolError(code, text);
  const { requiredCapabilities } = (data ?? {}) as { readonly requiredCapabilities?: object };
  const known = (['elicitation', 'sampling', 'roots'] as const).filter((one) => one in (requiredCapabilities ?? {}));
  const named = Object.fromEntries(known.map((one) => [one, {}]));
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: named }, text);
}
