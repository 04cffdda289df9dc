// Tells the owner of an app, in its log, that its backend answered callers with something that was no answer.
import type { Clock } from '../clock.ts';
import type { LogWriter } from '../logs/log-store.ts';

/** A caller can make a backend fail as often as it likes, so there is one remark in this time. */
const PAUSE_MILLISECONDS = 60_000;

/** Takes the events of the Gateway; those about the workload's own answers become lines of its log. */
export function createAnswerRemarks(writer: LogWriter, now: Clock['now']): (event: object) => void {
  let next = 0;
  let untold = 0;
  return (event) => {
    if (!('upstream' in event) || event.upstream !== 'workload') return;
    const time = now().getTime();
    if (time < next) {
      untold += 1;
      return;
    }
    next = time + PAUSE_MILLISECONDS;
    const what = 'code' in event && event.code === 'upstream_timeout' ? 'no answer in time' : 'no valid HTTP answer';
    const why = 'reason' in event && typeof event.reason === 'string' ? ` (${event.reason})` : '';
    const more = untold === 0 ? '' : `, as did ${untold} before it`;
    writer.append('system', `A request to it got ${what}${why}${more}.`);
    untold = 0;
  };
}
