// A core that answers everything and records what it is asked, to see what comes through a Gateway or past it.
import { once } from 'node:events';
import http from 'node:http';
import { portOf } from '../port-of.ts';

export interface RecordingCore {
  readonly port: number;
  readonly seen: {
    readonly target: string;
    readonly authorization: string | undefined;
    readonly headers: http.IncomingHttpHeaders;
  }[];
}

/** Takes everything, also what a strict server refuses: the Gateway must not count on core. */
export async function openCore(): Promise<RecordingCore & { server: http.Server }> {
  const seen: RecordingCore['seen'] = [];
  const server = http.createServer({ insecureHTTPParser: true, requireHostHeader: false }, (req, res) => {
    const { headers } = req;
    seen.push({ target: `${req.method} ${req.url}`, authorization: headers.authorization, headers });
    res.end('core answered');
  });
  // What stands behind an upgrade is looked at as the request that it may be.
  server.on('upgrade', ({ headers }, socket, head) => {
    const target = head.toString('latin1').split(' HTTP/')[0] ?? '';
    seen.push({ target, authorization: headers.authorization, headers });
    socket.destroy();
  });
  // On every address of the machine, so that a workload that gets out in any way would find it.
  server.listen(0);
  await once(server, 'listening');
  return { server, seen, port: portOf(server) };
}
