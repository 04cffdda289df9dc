// The metrics of several processes in one answer are what Prometheus takes for one well-formed text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeMetrics } from './merge-metrics.ts';

test('a metric that two processes have comes once, with the samples of both; a part that says nothing adds nothing', () => {
  const of = (part: string, own: string) =>
    `# HELP cpu Seconds.\n# TYPE cpu counter\ncpu{part="${part}"} 1\n\n# HELP ${own} Own.\n# TYPE ${own} gauge\n${own} 2\n`;
  assert.equal(
    mergeMetrics([of('core', 'a'), '', of('node', 'b')]),
    [
      '# HELP cpu Seconds.',
      '# TYPE cpu counter',
      'cpu{part="core"} 1',
      'cpu{part="node"} 1',
      '# HELP a Own.',
      '# TYPE a gauge',
      'a 2',
      '# HELP b Own.',
      '# TYPE b gauge',
      'b 2',
      '',
    ].join('\n'),
  );
});
