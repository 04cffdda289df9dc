// Decides whether W3C trace context from the other side is well-formed and may be forwarded
// (https://www.w3.org/TR/trace-context/ sections 3.2 and 3.3); anything else is dropped, never repaired.

const TRACEPARENT =
  /^(?:00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?)$/;

const MEMBER = /^(?:[a-z0-9][a-z0-9_*/@-]{0,255})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const MEMBERS_AT_MOST = 32;
const LENGTH_AT_MOST = 512;

/** Whether a `traceparent` value is valid: at most 512 characters, and ids that are not all zero. */
export function isTraceparent(value: string): boolean {
  return value.length <= LENGTH_AT_MOST && TRACEPARENT.test(value);
}

/** Whether a `tracestate` value is valid: at most 32 members and 512 characters. */
export function isTracestate(value: string): boolean {
  if (value.length > LENGTH_AT_MOST) return false;
  const members = value.split(',');
  return members.length <= MEMBERS_AT_MOST && members.every((member) => MEMBER.test(member.trim()));
}
