// What the client of a caller can be asked by an app in the middle of a request, and what it answered.
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputResponses,
  LOG_LEVEL_META_KEY,
  type LoggingMessageNotification,
  type Progress,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { plainText } from '../served/app-text.ts';

/** Bytes of what an app says of its progress. */
const LONGEST_MESSAGE = 4_096;

type LogParams = LoggingMessageNotification['params'];

export interface ClientSide {
  /** Revisions before 2026-07-28 have no answer to a question. */
  readonly modern: boolean;
  /** By which apps ask; nothing else of what it declares reaches an app. */
  readonly capabilities: ClientCapabilities;
  readonly inputResponses?: InputResponses;
  /** As the hub gave it. */
  readonly requestState?: string;
  /** From which on it wants to hear what an app says of its work; absent for nothing. */
  readonly logLevel?: LogParams['level'];
  readonly log: (said: LogParams) => void;
  /** Absent where the caller did not ask for it. */
  readonly progress?: (progress: Progress) => void;
}

/** Of a request that no client waits for. */
export const NO_CLIENT: ClientSide = { modern: false, capabilities: {}, log: () => undefined };

export function clientSideOf({ mcpReq }: Pick<ServerContext, 'mcpReq'>): ClientSide {
  const { inputResponses, _meta, notify: announce } = mcpReq;
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
  const state: unknown = mcpReq.requestState();
  const progressToken = _meta?.progressToken;
  // What is said on the way is no reason to fail when the client is gone.
  const quietly = (sent: Promise<unknown>): void => void sent.catch(() => undefined);
  return {
    modern: envelope !== undefined,
    capabilities: askable(declared),
    ...(inputResponses === undefined ? {} : { inputResponses: inputResponses as InputResponses }),
    ...(typeof state === 'string' ? { requestState: state } : {}),
    ...logLevelOf(envelope?.[LOG_LEVEL_META_KEY], envelope !== undefined),
    log: ({ level, data, logger }) => quietly(mcpReq.log(level, data, logger)),
    ...(progressToken === undefined
      ? {}
      : {
          // Nothing else that an app sends along passes.
          progress: ({ progress, total, message }) =>
            quietly(
              announce({
                method: 'notifications/progress',
                params: {
                  ...{ progress, progressToken },
                  ...(total === undefined ? {} : { total }),
                  ...(message === undefined ? {} : { message: plainText(message, LONGEST_MESSAGE) }),
                },
              }),
            ),
        }),
  };
}

function askable({ elicitation, sampling, roots }: ClientCapabilities): ClientCapabilities {
  return {
    ...(elicitation === undefined
      ? {}
      : {
          elicitation: {
            ...(elicitation.url === undefined ? {} : { url: {} }),
            // Without either it is forms.
            ...(elicitation.form === undefined && elicitation.url !== undefined ? {} : { form: {} }),
          },
        }),
    // Not `context`: an app is not to read what the client has of others.
    ...(sampling === undefined ? {} : { sampling: sampling.tools === undefined ? {} : { tools: {} } }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
}

/** Before 2026-07-28 a client that says nothing hears what the server chooses. */
function logLevelOf(level: unknown, modern: boolean): Pick<ClientSide, 'logLevel'> {
  if (!modern) return { logLevel: 'info' };
  return typeof level === 'string' ? { logLevel: level as LogParams['level'] } : {};
}
