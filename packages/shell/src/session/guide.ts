// Whether home shows how the platform gets an operator, or where the operator goes on.
import type { OperatorGuide } from '@platform/contract';
import { signal } from '@preact/signals';
import { call } from '../api/client.ts';

/** As last read; `null` before. */
export const guide = signal<OperatorGuide | null>(null);

/** Whether this account operates the platform: words that send others to the operator say what to do instead. */
export function isOperator(): boolean {
  return guide.value?.standing === 'operator';
}

/** A guide that cannot be read is none: nothing depends on it. */
export async function readGuide(): Promise<void> {
  guide.value = await call('operator.guide.read').catch(() => guide.value);
}

/** The apps of the account changed, as they do when it becomes the operator. For most accounts that means nothing here. */
export async function followGuide(): Promise<void> {
  if (guide.value !== null && guide.value.standing !== 'none') await readGuide();
}

/** @throws ApiError */
export async function dismissGuide(): Promise<void> {
  await call('operator.guide.dismiss', { body: {} });
  await readGuide();
}
