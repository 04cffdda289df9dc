// Figures of the inventory as people read them.
import { MiB, sizeText } from '@platform/shell/words';

export { ago, sizeText } from '@platform/shell/words';

/** `1 lease`, `12,345 leases` */
export function counted(amount: number, noun: string): string {
  return `${figure(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

/** `12,345` */
export function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}

export function memory(mebibytes: number): string {
  return sizeText(mebibytes * MiB);
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
