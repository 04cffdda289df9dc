// A request for what an app has beside its tools, as a call of a tool: within the size of arguments, and on record.
import { type InputRequiredResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import {
  limits,
  plainText,
  RefusalError,
  refuse,
  sizeText,
  type ToolOutcome,
  errors as table,
} from '@platform/contract';
import { argumentsHash } from '../arguments-hash.ts';
import { recordCall } from '../record.ts';
import type { Serving } from '../served/served-tools.ts';
import { type AppRequest, type Asked, askApp } from './ask-app.ts';
import type { Hub } from './hub-tool.ts';

type Ask<Result> = Parameters<typeof askApp<Result & object>>[4];

/** @throws ProtocolError whatever goes wrong */
export async function askForContent<Result extends object>(
  hub: Hub,
  serving: Serving,
  request: AppRequest,
  asked: Asked,
  ask: Ask<Result>,
): Promise<Result | InputRequiredResult> {
  const begun = performance.now();
  let outcome: ToolOutcome = 'refused';
  try {
    if (Buffer.byteLength(JSON.stringify(asked.given)) > limits.toolArguments.value)
      throw refuse('payload_too_large', `The arguments take more than ${sizeText(limits.toolArguments.value)}.`);
    outcome = 'error';
    const result = await askApp<Result>(hub, serving, request, asked, ask);
    outcome = 'ok';
    return result;
  } catch (error) {
    if (request.signal.aborted) outcome = 'cancelled';
    throw error instanceof RefusalError ? asProtocolError(error) : error;
  } finally {
    await recordCall(hub, {
      ...{ accountKey: request.caller.accountKey, caller: request.caller.recorded, tool: asked.name, outcome },
      ...{ milliseconds: performance.now() - begun, argumentsHash: argumentsHash(asked.name, asked.given) },
    });
  }
}

/** A refusal of the platform where a result has no place for one. */
export function asProtocolError({ refusal }: RefusalError): ProtocolError {
  const { code, detail, retryAfter } = refusal;
  const text = plainText(detail ?? table[code].title);
  return new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${text}`, {
    'platform/refusal': { code, ...(retryAfter === undefined ? {} : { retryAfter }) },
  });
}
