// The steps of a workflow run: each in words, with its bars on an axis that all of them share.
import { useSignal } from '@preact/signals';
import { Button } from '../../design/controls.tsx';
import { type Bar, type BarKind, placeOf, type StepRow, type Timeline } from './timeline.ts';
import { BARS, barLine, sizes, span, stepLine } from './words.ts';

/** More are folded in the middle. */
const SHOWN = 40;
const AT_EACH_END = 15;
const TICKS = [0, 0.5, 1] as const;

export function StepList({ timeline }: { readonly timeline: Timeline }) {
  const { steps } = timeline;
  const unfolded = useSignal(false);
  const isFolded = steps.length > SHOWN && !unfolded.value;
  const kinds = new Set(steps.flatMap(({ bars }) => bars.map(({ kind }) => kind)));
  return (
    <div class="steps">
      <Axis timeline={timeline} />
      <ol>
        {(isFolded ? steps.slice(0, AT_EACH_END) : steps).map((step) => (
          <Step key={step.activity.id} step={step} timeline={timeline} />
        ))}
        {isFolded && (
          <li class="steps-fold">
            <Button icon="down" onClick={() => (unfolded.value = true)}>
              Show {steps.length - 2 * AT_EACH_END} more steps
            </Button>
          </li>
        )}
        {isFolded &&
          steps.slice(-AT_EACH_END).map((step) => <Step key={step.activity.id} step={step} timeline={timeline} />)}
      </ol>
      <Legend kinds={kinds} />
    </div>
  );
}

function Step({ step, timeline }: { readonly step: StepRow; readonly timeline: Timeline }) {
  const { activity, bars } = step;
  return (
    <li class="step">
      <div class="step-text">
        <p class="step-name">
          <strong title={activity.step}>{activity.step}</strong>{' '}
          {activity.name !== activity.step && (
            <bdi class="step-activity" title={activity.name}>
              {activity.name}
            </bdi>
          )}
        </p>
        <p class="step-line">{stepLine(step)}</p>
        <p class="step-line">{sizes(activity)}</p>
      </div>
      <Lane timeline={timeline} bars={bars} />
      {bars.length > 1 && (
        <details class="narrower">
          <summary>
            What happened<span class="only-read"> in step {activity.step}</span>
          </summary>
          <ol class="step-bars">
            {bars.map((bar, index) => (
              <li key={index}>
                <i class={`bar-${bar.kind}`} aria-hidden="true" />
                {barLine(bar)}
              </li>
            ))}
          </ol>
        </details>
      )}
    </li>
  );
}

/** The words beside it say the same. */
function Lane({ timeline, bars }: { readonly timeline: Timeline; readonly bars: readonly Bar[] }) {
  return (
    <div class="lane" aria-hidden="true">
      {bars.map((bar, index) => {
        const { left, width } = placeOf(timeline, bar);
        return (
          <span
            key={index}
            class={`bar-${bar.kind}`}
            title={barLine(bar)}
            // A short one stays visible, also at the end.
            style={{ insetInlineStart: `min(${left}%, 100% - 3px)`, inlineSize: `${width}%` }}
          />
        );
      })}
    </div>
  );
}

function Axis({ timeline: { from, to } }: { readonly timeline: Timeline }) {
  return (
    <p class="axis" aria-hidden="true">
      {TICKS.map((part) => (
        <span key={part}>{part === 0 ? 'Start' : span((to - from) * part)}</span>
      ))}
    </p>
  );
}

function Legend({ kinds }: { readonly kinds: ReadonlySet<BarKind> }) {
  const shown = (Object.keys(BARS) as BarKind[]).filter((kind) => kinds.has(kind));
  return (
    <p class="bar-legend" aria-hidden="true">
      {shown.map((kind) => (
        <span key={kind}>
          <i class={`bar-${kind}`} />
          {BARS[kind]}
        </span>
      ))}
    </p>
  );
}
