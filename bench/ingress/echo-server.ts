// A workload whose WebSockets echo what they receive, on a Unix socket.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const [path = ''] = process.argv.slice(2);
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data, { binary: false })));
server.listen(path);
await once(server, 'listening');
console.log(JSON.stringify({ port: 0 }));
process.on('SIGTERM', () => process.exit());
