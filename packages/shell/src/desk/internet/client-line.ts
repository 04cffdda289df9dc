// The line that a person gives to a native client: where the backend is, and what lets the client in.

interface BackendAccess {
  /** `pet1.` and base64url of `{"url":…}`. */
  readonly endpointTicket: string;
  readonly capability: string;
}

export function clientLine({ endpointTicket, capability }: BackendAccess): string {
  return `${endpointTicket}#${capability}`;
}

/** Where the client of a line finds the backend. */
export function placeOf(line: string): string {
  const [ticket = ''] = line.split('#', 1);
  const encoded = (ticket.split('.', 2)[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  const { url }: { url: string } = JSON.parse(atob(encoded));
  return url;
}
