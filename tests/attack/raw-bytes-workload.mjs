// A backend that sends its Gateway the bytes that a test describes, over connections of its own, and tells everything that
// came back. In the bytes, <token> is its Gateway credential and <host> the address of the Gateway.
import http from 'node:http';
import net from 'node:net';

const { PORT, PLATFORM_GATEWAY_TOKEN } = process.env;
/** A connection that nobody ends. */
const PATIENCE_MS = 30_000;

// `parts` are written one after the other, each once the text `after` has come back; `end` closes the own half at last.
function exchange({ to, parts, end = false }) {
  const { hostname, port, host } = new URL(process.env[to]);
  const filled = (text) => text.replaceAll('<token>', PLATFORM_GATEWAY_TOKEN).replaceAll('<host>', host);
  return new Promise((resolve) => {
    const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const waiting = [...parts];
    let received = '';
    let how = 'closed';
    const timer = setTimeout(() => {
      how = 'open';
      socket.destroy();
    }, PATIENCE_MS);
    const write = () => {
      while (waiting.length > 0 && (waiting[0].after === undefined || received.includes(waiting[0].after))) {
        const { text = '', repeat = 1 } = waiting.shift();
        socket.write(Buffer.from(filled(text).repeat(repeat), 'latin1'));
        if (waiting.length === 0 && end) socket.end();
      }
    };
    socket.on('connect', write);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      write();
    });
    socket.on('end', () => socket.end());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ how, received });
    });
  });
}

http
  .createServer(async (request, response) => {
    const asked = new URL(request.url, 'http://backend').searchParams.get('exchanges');
    const told = asked === null ? { environment: process.env } : await Promise.all(JSON.parse(asked).map(exchange));
    response.end(JSON.stringify(told));
  })
  .listen(Number(PORT));
