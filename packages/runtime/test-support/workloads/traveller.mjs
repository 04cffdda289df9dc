// Tries to reach what a request names, over HTTP: /tcp/<address>/<port>, /udp/…, /dns/<name>, /hold/… keeps a
// connection open and /held says what became of it, /interfaces, /resolver, /boot, /program/<script in base64url>, and
// /shell/<port>/<script in base64url>, which sends a script to a listener inside.
import { spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net from 'node:net';

const http = process.getBuiltinModule('node:http');
const PATIENCE = 10_000;
const held = { answers: 0, end: 'open' };

const routes = {
  tcp: (address, port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host: address, port: Number(port) });
      const timer = setTimeout(() => socket.destroy(new Error('silence')), PATIENCE);
      socket.once('data', (data) => {
        resolve(data.toString().trim());
        socket.destroy();
      });
      socket.once('error', (error) => resolve(error.code ?? error.message));
      socket.once('close', () => clearTimeout(timer));
    }),
  connect: (address, port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host: address, port: Number(port) });
      socket.once('connect', () => {
        resolve('connected');
        socket.destroy();
      });
      socket.once('error', (error) => resolve(error.code));
    }),
  udp: (address, port) =>
    new Promise((resolve) => {
      const socket = dgram.createSocket('udp4');
      let over = false;
      const done = (answer) => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        clearInterval(again);
        socket.close();
        resolve(answer);
      };
      const send = () => socket.send('ping', (error) => error && done(error.code));
      const timer = setTimeout(done, PATIENCE, 'silence');
      let again;
      socket.once('message', (message) => done(`answered ${message}`));
      socket.on('error', (error) => done(error.code));
      socket.connect(Number(port), address, (error) => {
        if (error) return done(error.code);
        again = setInterval(send, 50);
        send();
      });
    }),
  dns: (name) =>
    dns.lookup(name).then(
      ({ address }) => address,
      (error) => error.code,
    ),
  hold: (address, port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host: address, port: Number(port) });
      socket.on('data', () => {
        held.answers += 1;
        held.at = Date.now();
        resolve('held');
        socket.write('more');
      });
      socket.once('error', (error) => {
        held.end = error.code;
        resolve(error.code);
      });
    }),
  held: async () => held,
  interfaces: async () =>
    fs
      .readFileSync('/proc/net/dev', 'utf8')
      .split('\n')
      .slice(2)
      .map((line) => line.split(':')[0].trim())
      .filter(Boolean),
  program: async (text) => {
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', Buffer.from(text, 'base64url').toString()]);
    return { status, said: `${stdout}${stderr}` };
  },
  resolver: async () => fs.readFileSync('/etc/resolv.conf', 'utf8'),
  // Without IPv6 in the kernel there is no such file.
  if6: async () => (fs.existsSync('/proc/net/if_inet6') ? fs.readFileSync('/proc/net/if_inet6', 'utf8') : ''),
  boot: async () => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  shell: (port, script) =>
    new Promise((resolve) => {
      const socket = net.connect({ host: '127.0.0.1', port: Number(port) });
      let said = '';
      socket.on('data', (data) => {
        said += data;
      });
      socket.once('error', (error) => resolve(error.code));
      socket.once('end', () => resolve(said));
      socket.end(Buffer.from(script, 'base64url'));
    }),
};

http
  .createServer(async (req, res) => {
    const [, route, ...rest] = req.url.split('/');
    const work = routes[route];
    res.end(JSON.stringify(work === undefined ? 'up' : await work(...rest)));
  })
  .listen(Number(process.env.PORT));
