// Months of budgets are those of UTC.

/** First day of the month, `2026-11-01`. */
export function monthOf(now: Date): string {
  return `${now.toISOString().slice(0, 7)}-01`;
}

/** Seconds until the next month begins, at least one. */
export function secondsToNextMonth(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return Math.max(1, Math.ceil((next - now.getTime()) / 1_000));
}
