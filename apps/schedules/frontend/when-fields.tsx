// The fields for how often a schedule runs: the usual choices, or a cron line.
import { useId } from 'preact/hooks';
import { type Repeats, WEEKDAYS, type When } from './when.ts';

interface WhenFieldsProps {
  readonly when: When;
  readonly onChange: (when: When) => void;
}

const CHOICES: readonly (readonly [Repeats, string])[] = [
  ['hour', 'Every hour'],
  ['day', 'Every day'],
  ['weekdays', 'Monday to Friday'],
  ['week', 'Every week'],
  ['month', 'Every month'],
  ['custom', 'By a cron line'],
];

export function WhenFields({ when, onChange }: WhenFieldsProps) {
  const { repeats } = when;
  const help = useId();
  const set = (change: Partial<When>) => onChange({ ...when, ...change });
  return (
    <>
      <label>
        Repeats
        <select value={repeats} onChange={(event) => set({ repeats: event.currentTarget.value as Repeats })}>
          {CHOICES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {repeats === 'hour' && (
        <label>
          Minutes past the hour
          <input
            type="number"
            min="0"
            max="59"
            required
            value={when.minute}
            onInput={(event) => set({ minute: event.currentTarget.value })}
          />
        </label>
      )}
      {repeats === 'week' && (
        <label>
          Day
          <select value={when.weekday} onChange={(event) => set({ weekday: event.currentTarget.value })}>
            {[1, 2, 3, 4, 5, 6, 0].map((day) => (
              <option key={day} value={String(day)}>
                {WEEKDAYS[day]}
              </option>
            ))}
          </select>
        </label>
      )}
      {repeats === 'month' && (
        <div>
          <label>
            Day of the month
            <input
              type="number"
              min="1"
              max="31"
              required
              aria-describedby={help}
              value={when.date}
              onInput={(event) => set({ date: event.currentTarget.value })}
            />
          </label>
          <p id={help} class="quiet small">
            Months without this day are left out.
          </p>
        </div>
      )}
      {repeats === 'custom' && (
        <div>
          <label>
            Cron line
            <input
              required
              maxLength={256}
              spellcheck={false}
              autocapitalize="none"
              class="code"
              aria-describedby={help}
              value={when.cron}
              onInput={(event) => set({ cron: event.currentTarget.value })}
            />
          </label>
          <p id={help} class="quiet small">
            Minute, hour, day of the month, month, day of the week.
          </p>
        </div>
      )}
      {repeats !== 'hour' && repeats !== 'custom' && (
        <label>
          At
          <input
            type="time"
            required
            value={when.time}
            // Empty while only a part of it is typed.
            onInput={(event) => event.currentTarget.value !== '' && set({ time: event.currentTarget.value })}
          />
        </label>
      )}
    </>
  );
}
