// What other apps and agents may do with the list. A model knows no more of a tool than what is said here.
import * as mcp from '@modelcontextprotocol/server';
import * as z from 'zod';

const title = z.string().trim().min(1).max(200);
const url = z.url({ protocol: /^https?$/ }).max(2_000);
const entry = z.object({
  id: z.string(),
  title,
  url: url.nullable(),
  addedBy: z.string().nullable(),
  addedAt: z.string(),
});
const entries = z.object({ entries: z.array(entry) });

/** @param readings the list @returns what answers the platform when it asks for tools */
export function serveTools(platform, readings) {
  return platform.tools.serve(mcp, { name: 'reading-list', version: '1.0.0' }, (server, { caller }) => {
    server.registerTool(
      'add',
      {
        title: 'Add to the reading list',
        description: 'Adds something to read: an article, a book, a video. The address is optional.',
        inputSchema: z.object({ title, url: url.optional() }),
        outputSchema: z.object({ entry }),
        annotations: { destructiveHint: false },
      },
      async ({ title, url = null }) => answer({ entry: await readings.add({ title, url, addedBy: caller }) }),
    );
    server.registerTool(
      'list',
      {
        title: 'What is on the reading list',
        description: 'The newest entries of the reading list, 20 unless more are asked for.',
        inputSchema: z.object({ limit: z.int().min(1).max(100).default(20) }),
        outputSchema: entries,
        annotations: { readOnlyHint: true },
      },
      async ({ limit }) => answer({ entries: (await readings.all()).slice(0, limit) }),
    );
    server.registerTool(
      'search',
      {
        title: 'Search the reading list',
        description: 'Entries whose title or address has the words, in any order.',
        inputSchema: z.object({ words: z.string().trim().min(1).max(200) }),
        outputSchema: entries,
        annotations: { readOnlyHint: true },
      },
      async ({ words }) => answer({ entries: await readings.search(words) }),
    );
  });
}

// Programs read the structured content. Models read the text, and some read nothing else.
function answer(structuredContent) {
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}
