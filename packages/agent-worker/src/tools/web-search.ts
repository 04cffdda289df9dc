// Web search, for agents that declare it. The platform asks the person and searches; the agent reaches no page of the web.
import type { Platform } from '../platform/platform.ts';
import type { OfferedTool } from './agent-tool.ts';

export const WEB_SEARCH = 'web_search';

const SEARCH = '/v1/services/web-search';
/** A search that the person has allowed already answers before this, mostly. */
const ASKING_AFTER_MILLISECONDS = 400;

const MOST_CHARACTERS = 400;

interface Found {
  readonly items: readonly { readonly title: string; readonly url: string; readonly snippet: string }[];
}

export function webSearch(platform: Platform): OfferedTool {
  return {
    name: WEB_SEARCH,
    tool: WEB_SEARCH,
    description:
      'Searches the web and answers titles, addresses and short excerpts. The person sees the exact query and may decline it. Pages cannot be opened.',
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          maxLength: MOST_CHARACTERS,
          description: 'What to search for. The person reads it first.',
        },
        count: { type: 'integer', minimum: 1, maximum: 20, description: 'How many results. Default: 10.' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    asks: false,
    async call({ query, count }, { session, signal, onConsent }) {
      const text = String(query ?? '')
        .slice(0, MOST_CHARACTERS)
        .toWellFormed();
      const asking = setTimeout(() => {
        try {
          onConsent(text);
        } catch (error) {
          // In a timer it would end the process. The search goes on; the person is asked by the platform all the same.
          process.stderr.write(`A question could not be written down: ${error}\n`);
        }
      }, ASKING_AFTER_MILLISECONDS);
      try {
        const answer = await platform.fetch(`${platform.origin}${SEARCH}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: text, count: typeof count === 'number' ? count : 10, session }),
          ...(signal === undefined ? {} : { signal }),
        });
        const value = await answer.json();
        if (!answer.ok) throw new Error(refusalOf(value as Refusal, answer.status));
        const found = (value as Found).items.map(({ title, url, snippet }) => `${title}\n${url}\n${snippet}`);
        return { text: found.length === 0 ? 'Nothing was found.' : found.join('\n\n'), isError: false };
      } finally {
        clearTimeout(asking);
      }
    },
  };
}

interface Refusal {
  readonly code?: string;
  readonly detail?: string;
  readonly title?: string;
}

function refusalOf({ code, detail, title }: Refusal, status: number): string {
  if (code === 'consent_denied') return 'The person did not allow this search. Do not ask again for the same.';
  return detail ?? title ?? `The search failed with status ${status}.`;
}
