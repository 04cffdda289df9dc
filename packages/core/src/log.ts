// The log of the platform: one JSON line for each event, with a request id, never with a secret.
import { escapeInJson } from '@platform/contract/plain-text';
import { pino } from 'pino';
import type { Log } from './context.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Redaction is the last net, not the rule: nothing secret is handed to the log in the first place. */
const REDACT = ['*.authorization', '*.cookie', '*.password', '*.credential', '*.token', 'authorization', 'cookie'];

export function createLog(level: LogLevel, destination: NodeJS.WritableStream = process.stderr): Log {
  // Lines hold what others sent, and operators read them on terminals.
  const hooks = { streamWrite: escapeInJson };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACT, hooks }, destination);
}
