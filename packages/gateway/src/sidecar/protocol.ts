// What the Runtime and a Gateway in a process of its own say to each other: one JSON object a line, over a Unix socket
// that only the two can reach. It carries both credentials and a private key, which is why it is neither environment nor arguments.
import type { Socket } from 'node:net';
import type { GatewayPolicy } from '@platform/contract';
import type { OutboundNetwork, RunningGateway } from '@platform/http';
import type { EnvelopeKey } from '@platform/link';
import type { GatewayEvent } from '../gateway.ts';

/** Everything a sidecar must know to be the Gateway of one installation. */
export interface SidecarSettings {
  readonly installationId: string;
  readonly appOrigin: string;
  /** Where core listens. The socket that leads there speaks HTTP: over https, TLS is spoken by the Runtime. */
  readonly coreOrigin: string;
  readonly coreHost: string;
  readonly gatewayCredential: string;
  readonly coreServiceCredential: string;
  readonly envelopeKey: EnvelopeKey;
  readonly policy: GatewayPolicy;
  readonly outbound: OutboundNetwork;
  /** Where the workload reaches it. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Where it reaches its object storage, on the same host. Absent: it has none. */
  readonly storagePort?: number;
  /** Where it reaches the workload. */
  readonly workload: { readonly hostname: string; readonly port: string };
}

export type ToSidecar =
  /** The first message on a connection: be this Gateway. Answered by `ready` or `failed`. */
  | { readonly kind: 'configure'; readonly settings: SidecarSettings }
  /** The first message of a later Runtime: report your settings. Answered by `ready` or `unconfigured`. */
  | { readonly kind: 'resume' }
  /** Answered by `listening` as soon as the workload accepts connections. */
  | { readonly kind: 'await-workload' }
  /** Answered by `applied` when the former policy no longer holds. */
  | { readonly kind: 'apply'; readonly policy: GatewayPolicy }
  /** Let requests end, then `closed`. */
  | { readonly kind: 'close' };

export type Traffic = ReturnType<RunningGateway['traffic']>;

export type FromSidecar =
  | { readonly kind: 'ready'; readonly settings: SidecarSettings }
  | { readonly kind: 'unconfigured' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'listening' }
  | { readonly kind: 'applied'; readonly revision: number }
  /** A keep-alive signal, at the begin and the end of requests; many at once are reported as one. */
  | { readonly kind: 'activity'; readonly active: number; readonly traffic: Traffic }
  | { readonly kind: 'event'; readonly event: GatewayEvent }
  | { readonly kind: 'closed'; readonly traffic: Traffic };

/** Files below the sidecar's own folder. */
export const socketNames = { control: 'control.sock', inbound: 'inbound.sock' } as const;

/** Certificate authorities of the operator's are in one. */
const LONGEST_LINE = 512 * 1024;

export function send(socket: Socket, message: ToSidecar | FromSidecar): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls `take` for each line. A line that is too long or is not an object with a `kind` ends the connection. */
export function receive<Message extends { readonly kind: string }>(
  socket: Socket,
  take: (message: Message) => void,
): void {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const message = parse<Message>(text.slice(0, end));
      text = text.slice(end + 1);
      if (message === undefined) {
        socket.destroy();
        return;
      }
      take(message);
    }
    if (text.length > LONGEST_LINE) socket.destroy();
  });
}

function parse<Message extends { readonly kind: string }>(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // Both ends are this file, of the same version; only `kind` distinguishes what a stranger could send here.
    return typeof value === 'object' && value !== null && 'kind' in value ? (value as Message) : undefined;
  } catch {
    return undefined; // which ends the connection
  }
}
