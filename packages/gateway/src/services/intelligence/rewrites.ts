// The two answers that do not pass as they are: a stream whose usage only the Gateway asked for, and a list of models.
import { matchesResource } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import type { Rewrite } from '@platform/http';
import { fieldOf, parsed } from './accounting/events.ts';
import { listOf, member } from './dialect.ts';

/** Of one event; what is longer passes. */
const LONGEST_EVENT = 64 * 1024;
const USAGE = '"usage"';
/** Of a list of models. */
const LONGEST_LIST = 8 * 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;
/** What every event of a stream has, which says nothing without an answer beside it. */
const FRAME = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'system_fingerprint', 'service_tier', 'obfuscation'],
]);
/** Not among the types of TypeScript yet. */
const rawJson: (source: string) => object = Reflect.get(JSON, 'rawJSON');

/**
 * Withholds reports of usage: the member `usage` of every event, and an event that has nothing else. Events end as the
 * standard of server-sent events has it: in CR, LF or both. Each leaves when it is complete.
 */
export function withoutUsage(): Rewrite {
  const held = new Pile();
  let out: Buffer[] = [];
  /** Within an event that is too long to be looked at. */
  let isPassing = false;
  let isLineEmpty = true;
  let isAfterReturn = false;
  /** An event ended with the last byte, whose end may have another. */
  let hasJustEnded = false;
  let isWithheld = false;
  /** Bytes of the present chunk that pass as they are, after those in `out`: events of a byte or two are no objects of their own. */
  let run = { from: 0, to: 0 };

  function pass(bytes: Buffer, from: number, to: number): void {
    if (run.to !== from) endRun(bytes);
    run = { from: run.to === from ? run.from : from, to };
  }

  function endRun(bytes: Buffer): void {
    if (run.to > run.from) out.push(bytes.subarray(run.from, run.to));
    run = { from: 0, to: 0 };
  }

  /** Whether the event that lies whole in these bytes has nothing to withhold. */
  function isPlain(bytes: Buffer, from: number, to: number): boolean {
    if (held.length > 0 || isPassing || to - from > LONGEST_EVENT) return false;
    return to - from < USAGE.length || !bytes.subarray(from, to).includes(USAGE);
  }

  function add(part: Buffer): void {
    if (!isPassing && held.length + part.length <= LONGEST_EVENT) return void held.add(part);
    isPassing = true;
    out.push(Buffer.from(held.bytes()), part);
    held.clear();
  }

  function finish(): void {
    const event = Buffer.from(held.bytes());
    const passes = isPassing ? event : passingPart(event);
    if (passes !== null) out.push(passes);
    isWithheld = passes === null;
    held.clear();
    isPassing = false;
  }

  function taken(): Buffer | null {
    const bytes = out.length === 0 ? null : Buffer.concat(out);
    out = [];
    return bytes === null || bytes.length === 0 ? null : bytes;
  }

  return {
    chunk(bytes) {
      let start = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at];
        if (byte === LF && isAfterReturn) {
          if (hasJustEnded) {
            if (!isWithheld) pass(bytes, at, at + 1);
            start = at + 1;
          }
          hasJustEnded = false;
        } else {
          hasJustEnded = isLineEmpty && (byte === LF || byte === CR);
          isLineEmpty = byte === LF || byte === CR;
          if (hasJustEnded) {
            if (isPlain(bytes, start, at + 1)) {
              pass(bytes, start, at + 1);
              isWithheld = false;
            } else {
              endRun(bytes);
              add(bytes.subarray(start, at + 1));
              finish();
            }
            start = at + 1;
          }
        }
        isAfterReturn = byte === CR;
      }
      endRun(bytes);
      if (start < bytes.length) add(bytes.subarray(start));
      return taken();
    },
    end() {
      finish();
      return taken();
    },
  };
}

/** What of an event passes; `null` for nothing. */
function passingPart(event: Buffer): Buffer | null {
  if (!event.includes(USAGE)) return event;
  const lines = event
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r\n|[\r\n]/);
  const data = parsed(lines.flatMap((line) => fieldOf(line, 'data') ?? []).join('\n'), asWritten);
  if (member(data, 'usage') === undefined) return event;
  const { usage: _, ...rest } = Object.fromEntries(Object.entries(data ?? {}));
  const isAnswer = listOf(member(rest, 'choices')).length > 0;
  if (!isAnswer && Object.keys(rest).every((name) => FRAME.has(name))) return null;
  const others = lines.filter((line) => line !== '' && fieldOf(line, 'data') === null);
  return Buffer.from([...others, `data: ${JSON.stringify(rest)}`, '', ''].join('\n'));
}

/** Keeps the digits of numbers, which may be more than a number of JavaScript has. */
function asWritten(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? rawJson(context.source) : value;
}

/** Members of a model that pass: none that may name others, such as its base, its aliases or what stands in for it. */
const OF_MODEL = new Map<string, 'string' | 'number'>([
  ...['id', 'object', 'type', 'owned_by', 'name', 'display_name', 'created_at'].map(
    (name) => [name, 'string'] as const,
  ),
  ...['created', 'context_length', 'context_window', 'max_model_len', 'max_tokens', 'max_input_tokens'].map(
    (name) => [name, 'number'] as const,
  ),
  ...['max_output_tokens', 'max_completion_tokens'].map((name) => [name, 'number'] as const),
]);

/** Leaves only the models that are granted, and of them what is known; nothing of a list that cannot be read. */
export function onlyModels(patterns: readonly string[]): Rewrite {
  const read = new Pile();
  let length = 0;
  return {
    chunk(bytes) {
      length += bytes.length;
      if (length <= LONGEST_LIST) read.add(bytes);
      return null;
    },
    end() {
      const list = length <= LONGEST_LIST ? parsed(read.bytes().toString('utf8')) : undefined;
      const data = listOf(member(list, 'data'))
        .filter((model) => isVisible(member(model, 'id'), patterns))
        .map(knownOf);
      const ids = data.map((model) => member(model, 'id'));
      const paging =
        member(list, 'first_id') === undefined ? {} : { first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
      return Buffer.from(JSON.stringify({ ...plainOf(list), data, ...paging }));
    },
  };
}

function plainOf(list: unknown): object {
  const object = member(list, 'object');
  const hasMore = member(list, 'has_more');
  const isList = object === 'list' || !Array.isArray(member(list, 'data'));
  return { ...(isList ? { object: 'list' } : {}), ...(typeof hasMore === 'boolean' ? { has_more: hasMore } : {}) };
}

function knownOf(model: unknown): object {
  return Object.fromEntries(Object.entries(model ?? {}).filter(([name, value]) => OF_MODEL.get(name) === typeof value));
}

function isVisible(id: unknown, patterns: readonly string[]): boolean {
  return typeof id === 'string' && patterns.some((pattern) => matchesResource(pattern, id));
}
