// A preview ends where it is shown when its files are served no more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@platform/contract';
import { PREVIEW_MILLISECONDS } from './preview-time.ts';

test('the shell shows a preview as long as core serves it', () => {
  assert.equal(PREVIEW_MILLISECONDS, limits.draftPreviewSeconds.value * 1_000);
});
