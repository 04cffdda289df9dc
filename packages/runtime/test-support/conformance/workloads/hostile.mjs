// Serves, and does everything wrong that it is asked to: /scratch and /volume fill them, /flood its log, /connections
// its Gateway (/tried says how far it is: when all are tried, it soon lets them go), /not-http answers with something else,
// /tamper spoils its volume. It ignores SIGTERM.
import { fork, spawnSync } from 'node:child_process';
import fs from 'node:fs';

const http = process.getBuiltinModule('node:http');
const volume = process.env.PLATFORM_VOLUME_DIR;
const FLOOD_LINES = 40_000;
const LINES_AT_ONCE = 100;
/** As many as one process may have open, in any of the sandboxes. */
const CONNECTIONS_EACH = 2_500;
/** Milliseconds for one connection, which the kernel would try for two minutes. */
const PATIENCE = 5_000;
/** Milliseconds for which it holds the connections that it got. */
const HOLD = 2_000;
const MOST_MIB = 200;

const CHILD = `import net from 'node:net';
const { hostname, port } = new URL(process.env.PLATFORM_API_URL);
const kept = [];
let settled = 0;
const settle = () => { settled += 1; if (settled === ${CONNECTIONS_EACH}) process.send('tried'); };
for (let n = 0; n < ${CONNECTIONS_EACH}; n += 1) {
  const socket = net.connect({ host: hostname, port: Number(port) });
  kept.push(socket);
  const giveUp = setTimeout(() => socket.destroy(), ${PATIENCE});
  const isSettled = new Promise((resolve) => socket.once('connect', resolve).once('error', resolve).once('close', resolve));
  isSettled.then(() => clearTimeout(giveUp)).then(settle);
}`;
let tried;

process.on('SIGTERM', () => {});

function fill(folder) {
  const block = Buffer.alloc(1024 * 1024, 1);
  const file = fs.openSync(`${folder}/fill`, 'w');
  let written = 0;
  try {
    while (written < MOST_MIB) {
      fs.writeSync(file, block);
      written += 1;
    }
    return 'never full';
  } catch (error) {
    return `${error.code} ${written}`;
  } finally {
    fs.closeSync(file);
    fs.rmSync(`${folder}/fill`);
  }
}

function flood() {
  const lines = `${'x'.repeat(99)}\n`.repeat(LINES_AT_ONCE);
  let left = FLOOD_LINES / LINES_AT_ONCE;
  const write = () => {
    while (left > 0) {
      left -= 1;
      if (!process.stdout.write(lines)) {
        process.stdout.once('drain', write);
        return;
      }
    }
    console.error('flood over');
  };
  setImmediate(write);
  return 'begun';
}

/** @param count of processes, each with as many as it may have */
function connections(count) {
  fs.writeFileSync('/tmp/child.mjs', CHILD);
  const children = Array.from({ length: Number(count) }, () => fork('/tmp/child.mjs'));
  tried = 'not yet';
  void Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve)))).then(() => {
    tried = 'all';
    setTimeout(() => {
      for (const child of children) child.kill('SIGKILL');
      tried = 'let go';
    }, HOLD);
  });
  return 'begun';
}

function tamper(outside) {
  const code = (action) => {
    try {
      action();
      return 'done';
    } catch (error) {
      return error.code;
    }
  };
  fs.writeFileSync(`${volume}/kept`, 'kept');
  const seen = {
    device: spawnSync('mknod', [`${volume}/disk`, 'b', '8', '0']).status,
    renamed: code(() => fs.renameSync(volume, '/tmp/volume')),
    removed: code(() => fs.rmdirSync(volume)),
    link: code(() => fs.symlinkSync(outside, `${volume}/link`)),
    setuid: code(() => {
      fs.copyFileSync('/bin/sh', `${volume}/sh`);
      fs.chmodSync(`${volume}/sh`, 0o6755);
    }),
  };
  spawnSync('mkfifo', [`${volume}/pipe`]);
  fs.chmodSync(volume, 0o000);
  fs.chmodSync(volume, 0o4777);
  return JSON.stringify(seen);
}

const routes = {
  scratch: () => fill('/tmp'),
  volume: () => fill(volume),
  flood,
  connections,
  tried: () => tried,
  tamper: (outside) => tamper(Buffer.from(outside, 'base64url').toString()),
  kept: () => fs.readFileSync(`${volume}/kept`, 'utf8'),
};

http
  .createServer(async (req, res) => {
    const [, route, argument] = req.url.split('/');
    if (route === 'not-http') return req.socket.end('SSH-2.0-not-http\r\n\r\n');
    res.end((await routes[route]?.(argument)) ?? 'up');
  })
  .listen(Number(process.env.PORT));
