// The next five times of what is in the form, as the clock of its zone shows them; asked of the platform as it is typed.
import type { SchedulesService } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { daysRuleOf, timeIn } from './when.ts';
import { problemOf } from './words.ts';

/** Typing goes on for a while. */
const PAUSE_MILLISECONDS = 250;

interface PreviewProps {
  readonly service: SchedulesService;
  readonly cron: string;
  readonly timeZone: string;
}

interface Answer {
  readonly cron: string;
  readonly timeZone: string;
  readonly times: readonly string[];
  readonly problem?: string;
}

export function Preview({ service, cron, timeZone }: PreviewProps) {
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    const ending = new AbortController();
    const timer = setTimeout(() => {
      service.preview({ cron, timeZone }, { signal: ending.signal }).then(
        (times) => setAnswer({ cron, timeZone, times }),
        (error: unknown) => {
          if (!ending.signal.aborted) setAnswer({ cron, timeZone, times: [], problem: problemOf(error) });
        },
      );
    }, PAUSE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [service, cron, timeZone]);
  const rule = answer === undefined ? null : daysRuleOf(answer.cron);
  return (
    <section class="preview" aria-labelledby="preview" aria-live="polite">
      <h3 id="preview">Next five times</h3>
      {answer?.problem !== undefined && <p class="danger-text">{answer.problem}</p>}
      {answer?.problem === undefined && (
        <ol class="times">
          {answer?.times.map((time) => (
            <li key={time}>
              <time dateTime={time}>{timeIn(answer.timeZone, time, 'long')}</time>
            </li>
          ))}
        </ol>
      )}
      {answer?.problem === undefined && rule !== null && <p class="quiet small">{rule}</p>}
    </section>
  );
}
