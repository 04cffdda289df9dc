// The internet address of an installation, as its owner sees it (contract 4e).
import * as z from 'zod';
import { publicPortStatus } from './workloads.ts';

/** A route of the manifest, and whether requests pass it. */
export const publicRouteStatus = z.strictObject({
  /** `WS` for WebSockets. */
  method: z.string(),
  /** Exact, or everything below where it ends with `/*`. */
  path: z.string(),
  /** `partly`: the grant is narrower. `no-backend`: it is granted, and its backend may not run. */
  state: z.enum(['open', 'partly', 'not-granted', 'no-backend']),
});
export type PublicRouteStatus = z.infer<typeof publicRouteStatus>;

/** A UDP port of the manifest. */
export const publicPortState = z.strictObject({
  name: z.string(),
  protocol: z.literal('udp'),
  /** `null` for `auto` before its backend has run. */
  containerPort: z.int().nullable(),
  /** Both `null` until the backend has run for the first time with the grant. */
  host: publicPortStatus.shape.host.nullable(),
  hostPort: publicPortStatus.shape.hostPort.nullable(),
  closed: publicPortStatus.shape.closed,
  state: z.enum(['open', 'closed', 'not-granted', 'no-backend']),
});
export type PublicPortState = z.infer<typeof publicPortState>;

export const publicAddress = z.strictObject({
  /** `null` for an app without public routes. */
  hostname: z.string().nullable(),
  /** `https://<hostname>`, with the port where it is not the usual one. */
  url: z.string().nullable(),
  routes: z.array(publicRouteStatus),
  ports: z.array(publicPortState),
});
export type PublicAddress = z.infer<typeof publicAddress>;
