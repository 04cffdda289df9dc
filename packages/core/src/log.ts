// The log of the platform: one JSON line for each event, with a request id, never with a secret.
import { escapeInJson } from '@platform/contract/plain-text';
import { pino } from 'pino';
import type { Log } from './context.ts';
import { loggedError } from './log-error.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Redaction is the last net, not the rule: nothing secret is handed to the log in the first place. */
const REDACT = ['*.authorization', '*.cookie', '*.password', '*.credential', '*.token', 'authorization', 'cookie'];

export function createLog(level: LogLevel, destination: NodeJS.WritableStream = process.stderr): Log {
  // Lines hold what others sent, and operators read them on terminals.
  const hooks = { streamWrite: escapeInJson };
  const formatters = { log: withLoggedErrors };
  // In place of pino's own, which writes out every member.
  const serializers = { err: (value: unknown) => value };
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ level, base: null, timestamp, redact: REDACT, hooks, formatters, serializers }, destination);
}

/** Under whatever name an error is given. */
function withLoggedErrors(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(fields).some((value) => value instanceof Error)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? loggedError(value) : value]),
  );
}
