// What a push message says of a notification, and how it is made to fit: push services take 4,096 bytes of cipher text
// at least (RFC 8030, section 7.2), and some no more.
import { limits, type PushPayload } from '@platform/contract';
import type { NotificationRow } from '../notifications/face.ts';

/** For a push service that finds even `limits.pushPayload` too large. */
const SHORTENED_BYTES = 1_200;

export type Urgency = 'very-low' | 'low' | 'normal' | 'high';

/** RFC 8030, section 5.3: what a phone that saves its battery is woken for. */
export const urgencies = {
  low: 'low',
  normal: 'normal',
  high: 'high',
  critical: 'high',
} as const satisfies Record<NotificationRow['priority'], Urgency>;

/** At most `limits.pushPayload` bytes as JSON. */
export function composeMessage(record: NotificationRow, appName: string): PushPayload {
  const { id, app_id: appId, title, body, priority, presentation } = record;
  const tone = presentation?.tone ?? 'neutral';
  return fitted({ id, appId, appName, title, body, tone, priority }, limits.pushPayload.value);
}

/** The payload in fewer bytes, for a push service that answered 413. */
export function shortenMessage(payload: PushPayload): PushPayload {
  return fitted(payload, SHORTENED_BYTES);
}

function fitted(payload: PushPayload, bytes: number): PushPayload {
  if (sizeOf(payload) <= bytes) return payload;
  const body = longest(payload.body, (text) => sizeOf({ ...payload, body: text }) <= bytes);
  if (body !== null) return { ...payload, body };
  const bare = { ...payload, body: '' };
  const title = longest(payload.title, (text) => sizeOf({ ...bare, title: text }) <= bytes);
  return { ...bare, title: title ?? '…' };
}

function sizeOf(payload: PushPayload): number {
  return Buffer.byteLength(JSON.stringify(payload));
}

/** The longest beginning, with `…` after it, that fits; `null` when not even its first character does. */
function longest(text: string, fits: (text: string) => boolean): string | null {
  // By code points, so that no pair of surrogates is torn apart.
  const points = [...text];
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(`${points.slice(0, middle).join('')}…`)) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? null : `${points.slice(0, low).join('')}…`;
}
