// What an app says is passed on as its own: it cannot speak with the platform's voice.
import { limits, refuse, sizeText } from '@platform/contract';

const OURS = 'platform/';

/**
 * The result without `_meta` members that only the platform writes, and without icons, which a client would fetch.
 *
 * @throws RefusalError `upstream_failed` for one that is too large
 */
export function passable<Result extends object>(result: Result): Result {
  const passed = withoutOurs(result) as Result;
  if (Buffer.byteLength(JSON.stringify(passed)) <= limits.toolResult.value) return passed;
  throw refuse('upstream_failed', `The app answered with more than ${sizeText(limits.toolResult.value)}.`);
}

function withoutOurs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOurs);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      // Data of the tool is what it is.
      if (name === 'structuredContent') return [[name, member]];
      if (name === 'icons') return [];
      return [[name, name === '_meta' ? metaOf(member) : withoutOurs(member)]];
    }),
  );
}

function metaOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.toLowerCase().startsWith(OURS)));
}
