// The two answers that do not pass as they are: a stream whose usage only the Gateway asked for, and a list of models.
import { matchesResource } from '@platform/contract';
import type { Rewrite } from '@platform/http';
import { type Dialect, listOf, member } from './dialect.ts';
import { parsed } from './server-sent-events.ts';

/** Of one event; what is longer passes. */
const LONGEST_EVENT = 64 * 1024;
/** Of a list of models. */
const LONGEST_LIST = 8 * 1024 * 1024;
const EVENT_END = /\r?\n\r?\n/;

/** Withholds the event that reports usage and nothing else. An event leaves when it is complete. */
export function withoutUsageEvent(dialect: Dialect): Rewrite {
  let held = '';
  /** Within an event that is too long to be looked at. */
  let passing = false;
  return {
    chunk(bytes) {
      // latin1 keeps every byte as it is.
      held += bytes.toString('latin1');
      let out = '';
      for (;;) {
        const end = EVENT_END.exec(held);
        if (end === null) break;
        const event = held.slice(0, end.index + end[0].length);
        held = held.slice(event.length);
        if (passing || !isUsageOnly(dialect, event)) out += event;
        passing = false;
      }
      if (held.length > LONGEST_EVENT) {
        passing = true;
        // The end of an event may have come in part.
        out += held.slice(0, -3);
        held = held.slice(-3);
      }
      return out === '' ? null : Buffer.from(out, 'latin1');
    },
    end: () => (held === '' ? null : Buffer.from(held, 'latin1')),
  };
}

function isUsageOnly(dialect: Dialect, event: string): boolean {
  if (event.length > LONGEST_EVENT || !event.includes('"usage"')) return false;
  const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []));
  return dialect.isUsageOnly(parsed(Buffer.from(data.join('\n').trim(), 'latin1').toString('utf8')));
}

/** Leaves only the models that are granted; nothing of a list that cannot be read. */
export function onlyModels(patterns: readonly string[]): Rewrite {
  const parts: Buffer[] = [];
  let length = 0;
  return {
    chunk(bytes) {
      length += bytes.length;
      if (length <= LONGEST_LIST) parts.push(bytes);
      return null;
    },
    end() {
      const list = length <= LONGEST_LIST ? parsed(Buffer.concat(parts).toString('utf8').trim()) : undefined;
      const data = listOf(member(list, 'data')).filter((model) => isVisible(member(model, 'id'), patterns));
      const ids = data.map((model) => member(model, 'id'));
      const paging =
        member(list, 'first_id') === undefined ? {} : { first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
      const rest = typeof list === 'object' && list !== null && 'data' in list ? list : { object: 'list' };
      return Buffer.from(JSON.stringify({ ...rest, data, ...paging }));
    },
  };
}

function isVisible(id: unknown, patterns: readonly string[]): boolean {
  return typeof id === 'string' && patterns.some((pattern) => matchesResource(pattern, id));
}
