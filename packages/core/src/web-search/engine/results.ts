// What search engines answer, in one shape: bounded, as plain text, with addresses of pages alone. It is a stranger's text and stays one.
import { limits, plainLine, type WebSearchItem } from '@platform/contract';
import * as z from 'zod';
import type { EngineSettings } from './engine-file.ts';

const text = z.string().nullish();

/** Of `/search?format=json` (SearXNG, Search API). */
const searxng = z.object({ results: z.array(z.object({ title: text, url: text, content: text })) });

/** Of `/res/v1/web/search` (Brave Search API, Web Search). Without results it has no `web`. */
const brave = z.object({
  web: z.object({ results: z.array(z.object({ title: text, url: text, description: text })) }).nullish(),
});

interface Found {
  readonly title?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly snippet?: string | null | undefined;
}

/** @returns `null` for what is no answer of this kind of engine */
export function readResults(kind: EngineSettings['kind'], answer: unknown, count: number): WebSearchItem[] | null {
  const found = kind === 'searxng' ? foundBySearxng(answer) : foundByBrave(answer);
  return found === null ? null : found.flatMap(itemOf).slice(0, count);
}

function foundBySearxng(answer: unknown): Found[] | null {
  const { success, data } = searxng.safeParse(answer);
  return success ? data.results.map(({ title, url, content }) => ({ title, url, snippet: content })) : null;
}

/** It marks the words that were found with tags. */
function foundByBrave(answer: unknown): Found[] | null {
  const { success, data } = brave.safeParse(answer);
  if (!success) return null;
  return (data.web?.results ?? []).map(({ title, url, description }) => ({
    title: withoutMarks(title ?? ''),
    url,
    snippet: withoutMarks(description ?? ''),
  }));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" };

function withoutMarks(html: string): string {
  return html
    .replaceAll(/<\/?[a-z][^<>]*>/gi, '')
    .replaceAll(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** What a person does not see, such as tags that only a model reads. Joiners stay: scripts need them. */
const HIDDEN = /(?!\u200C|\u200D|\uFE0F)\p{Default_Ignorable_Code_Point}/gu;

function itemOf({ title, url, snippet }: Found): WebSearchItem[] {
  const address = addressOf(url ?? '');
  if (address === null) return [];
  const line = (value: string, most: number) => plainLine(value.replaceAll(HIDDEN, ''), most);
  return [
    {
      title: line(title ?? '', limits.webSearchTitle.value),
      url: address,
      snippet: line(snippet ?? '', limits.webSearchSnippet.value),
    },
  ];
}

function addressOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.username !== '' || url.password !== '' || url.href.length > limits.webSearchUrl.value) return null;
  return url.href;
}
