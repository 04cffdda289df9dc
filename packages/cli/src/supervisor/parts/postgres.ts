// PostgreSQL, where the platform brings its own. It is no program of ours: it has no channel, listens on a Unix socket
// only, and reports the URL that core and other commands connect with.
import { say } from '../../terminal/terminal.ts';
import type { ServerPart } from '../part.ts';

export interface PostgresReport {
  /** The same after every restart; holds the password. */
  readonly url: string;
}

export const postgres: ServerPart<'PostgreSQL', PostgresReport> = {
  name: 'PostgreSQL',
  isConfigured: ({ databaseUrl }) => databaseUrl === null,
  async start({ folder }) {
    const { startEmbeddedPostgres } = await import('@platform/core/embedded-postgres');
    const server = await startEmbeddedPostgres({ dataDir: folder, log: say });
    return { pid: server.pid, exited: server.exited, stop: () => server.stop(), report: { url: server.url } };
  },
};
