// How an error stands in the log: its own words, and never what others hung on it. The pool of PostgreSQL puts its whole
// connection on one, undici the socket, other clients their request with its body.
import { formFault } from '@platform/contract';
import * as z from 'zod';

export interface LoggedError {
  readonly type: string;
  readonly message: string;
  /** Of Node, PostgreSQL, a client or the error table; `undefined` without one. */
  readonly code?: string | undefined;
  /** Where it was thrown. Left out for what a network or a system says, which no line of code explains. */
  readonly stack?: string | undefined;
  /** What it came from, the nearest first. */
  readonly causes?: readonly string[] | undefined;
}

const MOST_CHARACTERS = 500;
const MOST_FRAMES = 8;
const MOST_CAUSES = 4;

export function loggedError(error: Error): LoggedError {
  const code = codeOf(error);
  const causes = causesOf(error);
  return {
    type: error.name === 'Error' || error.name === 'error' ? error.constructor.name : error.name,
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    ...(isOfTheSystem(error, code) ? {} : { stack: framesOf(error) }),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

/** An error as text for a log: in one line, and where it was thrown if that explains it. */
export function errorInWords(error: unknown): string {
  if (!(error instanceof Error)) return shortened(String(error));
  const { stack = '', causes = [] } = loggedError(error);
  const line = [words(error), ...causes].join('; caused by ');
  return stack === '' ? line : `${line}\n${stack.replaceAll(/^/gm, '    ')}`;
}

function words(error: Error): string {
  const code = codeOf(error);
  const message = messageOf(error) || error.name;
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}

/** Of a form that does not fit, the first fault instead of all of them as JSON. */
function messageOf(error: Error): string {
  return shortened(error instanceof z.ZodError ? formFault(error) : error.message);
}

function codeOf(error: Error): string | undefined {
  if ('code' in error && typeof error.code === 'string') return error.code;
  const { refusal } = error as { readonly refusal?: { readonly code?: unknown } };
  return typeof refusal?.code === 'string' ? refusal.code : undefined;
}

/** PostgreSQL's class 08 is about connections, 53 about resources, 57 about operators who intervene. */
function isOfTheSystem(error: Error, code = ''): boolean {
  return 'syscall' in error || /^(UND_ERR_|ECONN|EPIPE$|(08|53|57)[0-9A-Z]{3}$)/.test(code);
}

function framesOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  return frames
    .slice(0, MOST_FRAMES)
    .map((frame) => frame.trim())
    .join('\n');
}

/** An error of several, as of two addresses that were tried, came from each of them. */
function causesOf(error: Error): string[] {
  const causes: string[] = [];
  const seen = new Set<unknown>([error]);
  const open: unknown[] = [...('errors' in error && Array.isArray(error.errors) ? error.errors : []), error.cause];
  for (let cause = open.shift(); open.length > 0 || cause instanceof Error; cause = open.shift()) {
    if (causes.length === MOST_CAUSES) break;
    if (!(cause instanceof Error) || seen.has(cause)) continue;
    seen.add(cause);
    causes.push(words(cause));
    open.push(cause.cause);
  }
  return causes;
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}
