// What the person's search finds of Messages: with whom there is a conversation. What was written is kept sealed, and the words of
// an index are not.
import type { App, Conversation, SearchEntry } from '@platform/sdk/browser';
import { useEffect, useRef } from 'preact/hooks';
import { IndexWriter } from './index-writer.ts';
import { otherOf, shortName } from './words.ts';

/** As many as a page may index: the latest. */
const MOST = 1_000;

/** @param conversations the latest first */
export function entriesOf(conversations: readonly Conversation[], own: string | undefined): SearchEntry[] {
  return conversations.slice(0, MOST).map((one) => ({
    // Ids of an index are shorter than ids of conversations may be, which differ at their ends.
    id: one.id.slice(-100),
    title: shortName(otherOf(one), own),
    kind: 'conversation',
    url: `?conversation=${encodeURIComponent(one.id)}`,
    text: otherOf(one),
  }));
}

/** Keeps the index as the conversations are. Without the permission, or the platform, Messages works all the same. */
export function useFoundBySearch(app: App, { conversations, own, loaded, heard }: Shown): void {
  const writer = useRef<IndexWriter<SearchEntry>>(undefined);
  useEffect(() => {
    const made = new IndexWriter<SearchEntry>((entries) => app.indexForSearch(entries));
    writer.current = made;
    return () => made.end();
  }, [app]);
  useEffect(() => {
    // In the order of their ids: a new message alone changes nothing.
    if (loaded && own !== undefined)
      writer.current?.want(entriesOf(conversations, own).sort((a, b) => (a.id < b.id ? -1 : 1)));
  });
  useEffect(() => writer.current?.tryNow(), [heard]);
}

interface Shown {
  readonly conversations: readonly Conversation[];
  readonly own: string | undefined;
  /** All of them are here. */
  readonly loaded: boolean;
  /** How often the platform had news. */
  readonly heard: number;
}
