// Who waits for the answer of a node hears soon that its machine is not reached, and a busy or slow one is left alone. What
// becomes of what is open, and how soon, is in tests/chaos/direct-link.test.ts, on a wire that is cut.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { until } from '../../../tests/support/wait.ts';
import { type AtNode, NodeWatch } from './node-watch.ts';

interface UnderWay extends AtNode {
  isLost: boolean;
}

const all: UnderWay[] = [];
let watch: NodeWatch;
let probes = 0;

function begin(isAnswered: boolean): UnderWay {
  const one: UnderWay = {
    isAnswered,
    isLost: false,
    lose() {
      one.isLost = true;
    },
  };
  watch.begin(one);
  all.push(one);
  return one;
}

function watchWith(probe: () => Promise<void>): void {
  probes = 0;
  watch = new NodeWatch(() => {
    probes += 1;
    return probe();
  });
}

afterEach(() => {
  for (const one of all.splice(0)) watch.end(one);
});

test('a machine that does not answer loses who waits, and not at once whose answer has begun', async () => {
  watchWith(() => Promise.reject(new Error('silent')));
  const [waits, reads] = [begin(false), begin(true)];
  await until('the request to be given up', () => waits.isLost);
  assert.equal(reads.isLost, false);
  watch.end(waits);
  const later = begin(false);
  await until('a later one as well', () => later.isLost);
});

test('a machine that answers loses nobody, however long the node takes', async () => {
  watchWith(() => Promise.resolve());
  const waits = begin(false);
  await until('three probes', () => probes >= 3);
  assert.equal(waits.isLost, false);
});

test('what the node sends meanwhile is a sign of life as well', async () => {
  watchWith(() => {
    watch.heard();
    return Promise.reject(new Error('lost on the way'));
  });
  const waits = begin(false);
  await until('three probes', () => probes >= 3);
  assert.equal(waits.isLost, false);
});

test('with nothing under way nobody is asked, and with the next request again', async () => {
  watchWith(() => Promise.resolve());
  watch.end(begin(false));
  const waits = begin(false);
  await until('a probe', () => probes >= 1);
  watch.end(waits);
  const [asked, next] = [probes, begin(false)];
  await until('a further probe', () => probes > asked);
  assert.equal(next.isLost, false);
});
