// A backend for native clients: echoes requests and the frames of WebSockets, and tells what it was started with. With the
// SDK beside it as `sdk.js`.
export const NATIVE_ENGINE = `
import { PlatformServicesClient } from './sdk.js';
const http = process.getBuiltinModule('node:http');
const { createHash } = process.getBuiltinModule('node:crypto');
const platform = PlatformServicesClient.fromEnv();
const routes = {
  '/own': () => ({ capability: process.env.PLATFORM_APP_CAPABILITY }),
  '/renew': () => platform.renewAppCapability(),
  '/verify': async (body) => ({ valid: await platform.verifyCapability(body.capability) }),
  '/echo': (body) => ({ body }),
};
const server = http.createServer((req, res) => {
  if (req.url === '/long') return res.write('begun');
  if (req.url === '/refuse') return res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('{"code":"unauthenticated"}');
  let text = '';
  req.on('data', (chunk) => { text += chunk; });
  req.on('end', async () => res.end(JSON.stringify(await routes[req.url]?.(JSON.parse(text || 'null')) ?? null)));
});
server.on('upgrade', (req, socket) => {
  if (req.url !== '/chat') return socket.end('HTTP/1.1 404 Not Found\\r\\nContent-Length: 0\\r\\n\\r\\n');
  const offered = req.headers['sec-websocket-protocol'] ?? '';
  const accept = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  const chosen = offered.includes('chat.v2') ? 'Sec-WebSocket-Protocol: chat.v2\\r\\n' : '';
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n' + chosen + '\\r\\n');
  const say = (text) => socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
  say('offered:' + offered);
  // Short text frames, masked as those of clients are.
  socket.on('data', (frame) => {
    if ((frame[0] & 15) !== 1) return socket.end();
    say(frame.subarray(6, 6 + (frame[1] & 127)).map((byte, at) => byte ^ frame[2 + (at & 3)]).toString());
  });
  socket.on('error', () => {});
});
server.listen(Number(process.env.PORT));
`;
