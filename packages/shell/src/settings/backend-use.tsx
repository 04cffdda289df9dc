// What a running backend uses: three figures in plain words, each with its last two minutes.
import type { WorkloadUse } from '@platform/contract';
import { useRef } from 'preact/hooks';
import { Sparkline } from '../design/sparkline.tsx';
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
        <div class="use-figure">
          <dt>Processor</dt>
          <dd>{processorNow(usage.cpu)}</dd>
          <dd class="use-chart">
            <Sparkline
              label={`Processor over the last two minutes: now ${processorNow(usage.cpu)}`}
              values={history.map((reading) => reading.usage.cpu.share)}
              places={PLACES}
              top={usage.cpu.limit}
            />
          </dd>
          <dd class="use-more">{processorSoFar(usage.cpu)}</dd>
        </div>
        <div class="use-figure">
          <dt>Memory</dt>
          <dd>{memoryNow(usage.memory)}</dd>
          <dd class="use-chart">
            <Sparkline
              label={`Memory over the last two minutes: now ${memoryNow(usage.memory)}`}
              values={history.map((reading) => reading.usage.memory.bytes)}
              places={PLACES}
              top={usage.memory.limitBytes}
            />
          </dd>
          <dd class="use-more">{memorySoFar(usage.memory)}</dd>
        </div>
        <div class="use-figure">
          <dt>Network</dt>
          <dd>{networkNow(usage.network)}</dd>
          <dd class="use-chart">
            <Sparkline
              label={`Network over the last two minutes: in all ${networkNow(usage.network)}`}
              values={bytesPerSecond(history)}
              places={PLACES}
              top={1_000}
            />
          </dd>
          <dd class="use-more">
            {networkSoFar(usage.network).map((line) => (
              <p key={line}>{line}</p>
            ))}
          </dd>
        </div>
      </dl>
      {dropped !== null && <p class="quiet-text">{dropped}</p>}
    </>
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
