// Redirects of upstreams. Clients of an app follow them with its Gateway credential: back into the Gateway, or elsewhere.

/** All of their class but 304, which answers a condition and leads nowhere. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}
