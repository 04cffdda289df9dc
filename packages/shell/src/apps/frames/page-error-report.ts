// An error as a page of an app says it, as core takes it.
import type { PageErrorReport } from '@platform/contract';

/** @returns `null` where nothing of it is an error */
export function reportIn(data: unknown): PageErrorReport | null {
  const { error } = data as { readonly error?: Partial<Record<keyof PageErrorReport, unknown>> };
  if (typeof error !== 'object' || error === null || typeof error.message !== 'string') return null;
  return {
    message: plain(error.message, 2_000) ?? '',
    file: plain(error.file, 300),
    line: counted(error.line),
    column: counted(error.column),
    stack: plain(error.stack, 4_000),
  };
}

function plain(value: unknown, most: number): string | null {
  return typeof value === 'string' ? value.replaceAll('\0', '').slice(0, most).toWellFormed() : null;
}

function counted(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : null;
}
