// Times as the command line writes them for people.

/** @returns ISO 8601 in UTC to the minute, such as `2026-11-24T13:10Z`, which sorts and is one word; cut, not rounded */
export function minuteText(time: string | Date): string {
  return `${new Date(time).toISOString().slice(0, 16)}Z`;
}
