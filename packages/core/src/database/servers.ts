// The servers that a database URL names. Of several one takes writes and the others follow it, as libpq understands such a list
// with target_session_attrs=read-write. This process talks to one of them at a time; every connection to the configured database
// is opened here.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { serversOf } from '../config/database-url.ts';

/** Within which a server must say that it takes writes. */
const LIMIT_MS = 2_000;

/** The server that each list leads to now, by the list. */
const current = new Map<string, string>();

/** The server that this process talks to. The first of the list, until another was found. */
export function serverOf(url: string): string {
  return current.get(url) ?? serversOf(url)[0] ?? url;
}

/**
 * Looks for the server that takes writes: the one that this process talks to if it still does, else the first of the list that
 * does. Connections that are opened from now on go there. One that hangs is not waited for longer than two seconds.
 *
 * @returns whether it is another one than before; false too when none takes writes
 */
export async function findServer(url: string): Promise<boolean> {
  const servers = serversOf(url);
  if (servers.length === 1) return false;
  const before = serverOf(url);
  const found = await Promise.all(servers.map(takesWrites));
  const writable = servers.filter((_, index) => found[index]);
  const next = writable.includes(before) ? before : writable[0];
  if (next === undefined) return false;
  current.set(url, next);
  return next !== before;
}

async function takesWrites(server: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: server, application_name: 'platform-watch' });
  client.on('error', () => undefined);
  const over = new AbortController();
  const asked = (async () => {
    await client.connect();
    const { rows } = await client.query<{ follows: boolean }>('SELECT pg_is_in_recovery() AS follows');
    return rows[0]?.follows === false;
  })().catch(() => false);
  const late = delay(LIMIT_MS, false, { signal: over.signal }).catch(() => false);
  const answer = await Promise.race([asked, late]);
  over.abort();
  client.connection.stream.destroy();
  return answer;
}

/** A connection to the server of the list that this process talks to when it is opened. */
export class ServerClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    const { connectionString } = config;
    super(connectionString === undefined ? config : { ...config, connectionString: serverOf(connectionString) });
  }
}
