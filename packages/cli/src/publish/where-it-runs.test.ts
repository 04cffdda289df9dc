// An author hears where no machine can run a backend, whatever the reason, and nothing where one can.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineKind } from '@platform/contract';
import { nowhereToRun } from './where-it-runs.ts';

const confined: MachineKind = { runtimes: ['node', 'binary'], processor: 'x64' };
const scripts: MachineKind = { runtimes: ['node'], processor: null };
const docker: MachineKind = { runtimes: ['node', 'binary', 'oci'], processor: 'arm64' };

test('a backend that some machine runs is not spoken of', () => {
  assert.equal(nowhereToRun({ runtime: 'node' }, [scripts]), null);
  assert.equal(nowhereToRun({ runtime: 'oci' }, [scripts, docker]), null);
  assert.equal(nowhereToRun({ runtime: 'binary', processor: 'x64' }, [docker, confined]), null);
});

test('what no machine runs is named: images, executables for another processor, executables at all', () => {
  assert.match(nowhereToRun({ runtime: 'oci' }, [confined, scripts]) ?? '', /runs container images.*"docker"/);
  assert.match(nowhereToRun({ runtime: 'binary', processor: 'arm64' }, [confined, scripts]) ?? '', /aarch64/);
  assert.match(nowhereToRun({ runtime: 'binary', processor: 'x64' }, [scripts]) ?? '', /runtime "binary"/);
});

test('without machines nothing runs', () => {
  assert.match(nowhereToRun({ runtime: 'node' }, []) ?? '', /no machine that runs backends/);
});
