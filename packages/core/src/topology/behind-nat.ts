// Which nodes clients reach through Ingresses: those that keep a connection over iroh and have no origin of their own. The
// host is made of the id that core gave them, so no node has a say in it.

/** SQL, of a row `n` of `nodes`: its id, or NULL for a node that clients reach at its own origin. */
export const BEHIND_NAT = `CASE WHEN n.inbound_origin IS NULL AND n.control_url LIKE 'iroh:%' THEN n.id END`;
