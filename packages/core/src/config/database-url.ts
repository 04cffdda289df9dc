// PLATFORM_DATABASE_URL: one server, or a list of several, `postgres://user:password@one:5432,two:5432/platform`, as libpq
// understands it.

/** Scheme and login, hosts, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/** One URL for each server, in the order of the list. */
export function serversOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = PARTS.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => `${before}${host.trim()}${after}`) : [url];
}

/** Host and port for a log line, never the login. */
export function placeOf(server: string): string {
  return PARTS.exec(server)?.[2] ?? '';
}

/** Whether it is an address of PostgreSQL, or a list of such. */
export function isDatabaseUrl(url: string): boolean {
  const isOne = (one: string) => /^postgres(ql)?:\/\//.test(one) && URL.canParse(one.replace('@/', '@localhost/'));
  return serversOf(url).every(isOne);
}
