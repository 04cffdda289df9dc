// `npm run openapi`: writes the routes that this page calls (src/api/routes.ts) as text, because the contract's table carries
// zod: the routes of a session, and those that open one.
import { writeFileSync } from 'node:fs';
import { routes } from '@platform/contract';

export const ROUTES_FILE = new URL('src/api/routes.ts', import.meta.url);

const OPENS_A_SESSION = '/v1/auth/';

export function routesText(): string {
  const lines = Object.entries(routes)
    .filter(([, { callers, path }]) => callers.some((kind) => kind === 'session') || path.startsWith(OPENS_A_SESSION))
    .map(([id, { method, path }]) => `  '${id}': '${method} ${path}',`);
  return `// Written by \`npm run openapi\`: the routes of the contract that a session calls, and those that open one.

export const shellRoutes = {
${lines.join('\n')}
} as const;

export type ShellRoute = keyof typeof shellRoutes;
`;
}

if (import.meta.main) {
  const text = routesText();
  writeFileSync(ROUTES_FILE, text);
  process.stdout.write(`routes.ts of the shell: ${text.split('\n').length} lines\n`);
}
