// Logs for the owner of an app that its backend answered with invalid HTTP or not in time.
import type { Clock } from '../clock.ts';
import type { LogWriter } from '../logs/log-store.ts';

/** At most one line in this time, because a caller can make a backend fail as often as it likes. */
const PAUSE_MILLISECONDS = 60_000;

/** Takes the events of the Gateway; those about the workload's own answers become lines of its log. */
export function createAnswerRemarks(writer: LogWriter, now: Clock['now']): (event: object) => void {
  let next = 0;
  let suppressed = 0;
  return (event) => {
    if (!('upstream' in event) || event.upstream !== 'workload') return;
    const time = now().getTime();
    if (time < next && next - time <= PAUSE_MILLISECONDS) {
      suppressed += 1;
      return;
    }
    next = time + PAUSE_MILLISECONDS;
    const what = 'code' in event && event.code === 'upstream_timeout' ? 'no answer in time' : 'no valid HTTP answer';
    const why = 'reason' in event && typeof event.reason === 'string' ? ` (${event.reason})` : '';
    const more = suppressed === 0 ? '' : `, as did ${suppressed} before it`;
    writer.append('system', `A request to it got ${what}${why}${more}.`);
    suppressed = 0;
  };
}
