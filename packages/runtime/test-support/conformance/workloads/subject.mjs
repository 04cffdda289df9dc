// A workload that does what its test asks: runs the code in the body of POST /run and answers with what came of it.
import childProcess from 'node:child_process';
import { createHash } from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { text } from 'node:stream/consumers';
import workerThreads from 'node:worker_threads';

const http = process.getBuiltinModule('node:http');
let raw = '';
const kit = {
  ...{ fs, net, http, dns, dgram, os, childProcess, workerThreads },
  code(action) {
    try {
      action();
      return 'done';
    } catch (error) {
      return error.code ?? String(error);
    }
  },
  connect(target, limit = 3_000) {
    return new Promise((resolve) => {
      const socket = net.connect(target);
      const finish = (outcome) => {
        socket.destroy();
        resolve(outcome);
      };
      socket.setTimeout(limit, () => finish('no answer'));
      socket.once('connect', () => finish('connected'));
      socket.once('error', (error) => finish(error.code));
    });
  },
  async gateway(path, token = process.env.PLATFORM_GATEWAY_TOKEN) {
    const answer = await fetch(`${process.env.PLATFORM_API_URL}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: answer.status, text: await answer.text() };
  },
  exchange(host, port, bytes, silence = 250) {
    return new Promise((resolve) => {
      const socket = net.connect({ host, port });
      let received = '';
      const finish = () => {
        socket.destroy();
        resolve(received);
      };
      socket.setTimeout(silence, finish);
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', finish);
      socket.on('close', finish);
      socket.write(Buffer.from(bytes, 'base64'));
    });
  },
  execute(program) {
    for (const folder of [os.tmpdir(), '/dev/shm', process.env.PLATFORM_VOLUME_DIR].filter(Boolean)) {
      const file = `${folder}/program-${process.pid}`;
      fs.writeFileSync(file, Buffer.from(program, 'base64'), { mode: 0o700 });
      const { stdout, error } = childProcess.spawnSync(file, [], { timeout: 10_000 });
      fs.rmSync(file);
      if (error === undefined) return stdout.toString('base64');
    }
    return '';
  },
  answerRaw(bytes) {
    raw = bytes;
  },
};

async function run(body) {
  try {
    const { source, args } = JSON.parse(body);
    // biome-ignore lint/security/noGlobalEval: the test's own code, sent inside on purpose
    return { value: await globalThis.eval(`(${source})`)(kit, ...args) };
  } catch (error) {
    return { error: error.stack ?? String(error) };
  }
}

process.on('SIGTERM', () => {
  console.log('bye');
  process.exit(3);
});
/** Sends as fast as it is read, without end. */
function pour(res) {
  const piece = Buffer.alloc(256 * 1024, 'x');
  const push = () => {
    while (!res.destroyed) if (!res.write(piece)) return res.once('drain', push);
  };
  push();
}

http
  .createServer(async (req, res) => {
    if (req.url === '/public/seen') {
      res.writeHead(200, { 'set-cookie': 'a=b', 'content-security-policy': "default-src 'self'" });
      return res.end(JSON.stringify(req.headers));
    }
    if (req.url === '/public/endless') return pour(res);
    if (req.url === '/raw') return res.socket.end(Buffer.from(raw, 'latin1'));
    if (req.url !== '/run') return res.end('served');
    res.end(JSON.stringify(await run(await text(req))) ?? '');
  })
  .on('upgrade', (req, socket) => {
    socket.on('error', () => socket.destroy());
    const accept = createHash('sha1')
      .update(`${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  })
  .listen(process.env.LISTEN ?? Number(process.env.PORT), () => console.log('up'));
