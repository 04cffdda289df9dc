// What a running backend uses: three figures in plain words, each with its last two minutes.
import type { WorkloadUse } from '@platform/contract';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Sparkline } from '../../design/sparkline.tsx';
import {
  droppedLines,
  memoryNow,
  memorySoFar,
  networkNow,
  networkSoFar,
  processorNow,
  processorSoFar,
} from './use-words.ts';

/** Readings kept for the charts: two minutes of one every three seconds. */
const PLACES = 40;

interface Reading {
  readonly usage: WorkloadUse;
  readonly at: number;
}

/** The readings of this page so far, oldest first; a new run begins anew. */
function useHistory(usage: WorkloadUse, run: string): readonly Reading[] {
  const kept = useRef<{ run: string; readings: readonly Reading[] }>({ run, readings: [] });
  if (kept.current.run !== run) kept.current = { run, readings: [] };
  if (kept.current.readings.at(-1)?.usage !== usage) {
    const readings = [...kept.current.readings, { usage, at: performance.now() }];
    kept.current = { run, readings: readings.slice(-PLACES - 1) };
  }
  return kept.current.readings;
}

export function BackendUse({ usage, run }: { readonly usage: WorkloadUse; readonly run: string }) {
  const history = useHistory(usage, run);
  const dropped = droppedLines(usage.logLinesDropped);
  return (
    <>
      <dl class="use">
        <Figure
          title="Processor"
          now={processorNow(usage.cpu)}
          values={history.map((reading) => reading.usage.cpu.share)}
          top={usage.cpu.limit}
        >
          {processorSoFar(usage.cpu)}
        </Figure>
        <Figure
          title="Memory"
          now={memoryNow(usage.memory)}
          values={history.map((reading) => reading.usage.memory.bytes)}
          top={usage.memory.limitBytes}
        >
          {memorySoFar(usage.memory)}
        </Figure>
        <Figure
          title="Network"
          now={networkNow(usage.network)}
          chart="in all"
          values={bytesPerSecond(history)}
          top={1_000}
        >
          {networkSoFar(usage.network).map((line) => (
            <p key={line}>{line}</p>
          ))}
        </Figure>
      </dl>
      {dropped !== null && <p class="quiet-text">{dropped}</p>}
    </>
  );
}

interface FigureProps {
  readonly title: string;
  /** In words; part of what the chart is called. */
  readonly now: string;
  /** What of it `now` is. Default: the figure of this moment. */
  readonly chart?: string;
  readonly values: readonly (number | null)[];
  /** The value at the upper edge of the chart. */
  readonly top: number;
  readonly children: ComponentChildren;
}

/** One figure, its last two minutes, and what there is to say besides. */
function Figure({ title, now, chart = 'now', values, top, children }: FigureProps) {
  return (
    <div class="use-figure">
      <dt>{title}</dt>
      <dd>{now}</dd>
      <dd class="use-chart">
        <Sparkline
          label={`${title} over the last two minutes: ${chart} ${now}`}
          values={values}
          places={PLACES}
          top={top}
        />
      </dd>
      <dd class="use-more">{children}</dd>
    </div>
  );
}

function bytesPerSecond(history: readonly Reading[]): (number | null)[] {
  return history.slice(1).map(({ usage, at }, index) => {
    const before = history[index];
    if (before === undefined) return null;
    const seconds = (at - before.at) / 1_000;
    return seconds <= 0 ? null : Math.max(0, total(usage) - total(before.usage)) / seconds;
  });
}

function total({ network: { outbound, inbound, public: open } }: WorkloadUse): number {
  const both = outbound.sentBytes + outbound.receivedBytes + inbound.sentBytes + inbound.receivedBytes;
  return both + (open === null ? 0 : open.sentBytes + open.receivedBytes);
}
