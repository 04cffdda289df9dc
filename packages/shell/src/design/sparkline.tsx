// A small line of the last readings of one figure, drawn as the page's own SVG. The words beside it say the same.

export interface SparklineProps {
  /** Oldest first; `null` where a reading said nothing. */
  readonly values: readonly (number | null)[];
  /** How many readings the whole width stands for; fewer leave its beginning empty. */
  readonly places: number;
  /** What the top stands for; grows with the values where they are larger. */
  readonly top: number;
  /** The same for those who do not see it. */
  readonly label: string;
}

const WIDTH = 120;
const HEIGHT = 32;
/** Room for the line's own thickness at the edges. */
const EDGE = 2;

export function Sparkline({ values, places, top, label }: SparklineProps) {
  const known = values.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const highest = Math.max(top, ...known.map(({ value }) => value), Number.MIN_VALUE);
  const x = (index: number) => EDGE + ((index + places - values.length) / Math.max(1, places - 1)) * (WIDTH - 2 * EDGE);
  const y = (value: number) => HEIGHT - EDGE - (value / highest) * (HEIGHT - 2 * EDGE);
  const points = known.map(({ value, index }) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const [first, last] = [known.at(0), known.at(-1)];
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
      <line class="sparkline-ground" x1="0" y1={HEIGHT - 0.5} x2={WIDTH} y2={HEIGHT - 0.5} />
      {first !== undefined && last !== undefined && points.length > 1 && (
        <>
          <polygon
            class="sparkline-area"
            points={`${x(first.index).toFixed(1)},${HEIGHT} ${points.join(' ')} ${x(last.index).toFixed(1)},${HEIGHT}`}
          />
          <polyline class="sparkline-line" points={points.join(' ')} />
        </>
      )}
    </svg>
  );
}
