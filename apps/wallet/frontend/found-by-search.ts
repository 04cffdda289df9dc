// What the person's search finds of Wallet: the newest entries, by the other side and what they were for. Never amounts or balances.
import type { App, SearchEntry, WalletEntry } from '@platform/sdk/browser';
import { useEffect, useRef } from 'preact/hooks';

export function entriesOf(entries: readonly WalletEntry[]): SearchEntry[] {
  return entries
    .filter(({ counterparty }) => counterparty !== null)
    .map(({ id, counterparty, reference, amount }) => {
      const other = counterparty ?? '';
      return {
        id,
        title: reference ?? (amount.value.startsWith('-') ? `Payment to ${other}` : `Payment from ${other}`),
        kind: 'payment',
        url: `?search=${encodeURIComponent(reference ?? other)}`,
        text: other,
      };
    });
}

/** Writes the index whenever the newest entries are others; without the permission Wallet works all the same. */
export function useFoundBySearch(app: App, entries: readonly WalletEntry[] | undefined, search: string): void {
  const written = useRef('');
  useEffect(() => {
    // Only the unfiltered statement says what there is.
    if (entries === undefined || search !== '') return;
    const wanted = entriesOf(entries);
    const text = JSON.stringify(wanted);
    if (text === written.current) return;
    written.current = text;
    void app.indexForSearch(wanted).catch(() => {
      written.current = '';
    });
  }, [entries, search]);
}
