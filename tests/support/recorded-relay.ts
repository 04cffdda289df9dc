// A relay on loopback that keeps every byte that passes it, both ways.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface RecordedRelay {
  readonly port: number;
  /** Everything that passed, each connection's two directions one after the other. */
  recorded(): Buffer;
  /** Ends what is open, and takes nothing more until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** @param target port on loopback @param port where it listens; 0 for any */
export async function startRecordedRelay(target: () => number, port = 0): Promise<RecordedRelay> {
  const pieces: Buffer[][] = [];
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(target(), '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      const kept: Buffer[] = [];
      pieces.push(kept);
      open.add(from);
      from.on('data', (piece) => kept.push(piece));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const end = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    recorded: () => Buffer.concat(pieces.flat()),
    cut() {
      isCut = true;
      end();
    },
    mend() {
      isCut = false;
    },
    async close() {
      server.close();
      end();
      await once(server, 'close');
    },
  };
}
