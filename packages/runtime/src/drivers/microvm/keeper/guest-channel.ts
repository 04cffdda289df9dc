// The keeper's side of the protocol with guest/init.sh: one connection each for control, the two outputs and the
// order. Init opens all four before the workload runs, and their listeners close then, so that the workload
// cannot impersonate one of them later. Everything received over them comes from the guest and is untrusted.
import net from 'node:net';
import { addresses, type GuestLimits, keeperPorts } from '../places.ts';

export interface GuestEnd {
  readonly code: number;
  /** Times that the guest's kernel killed something for want of memory. */
  readonly memoryKills: number;
}

export interface GuestChannel {
  /** Resolves when init has asked for its order. */
  readonly connected: Promise<void>;
  readonly ended: Promise<GuestEnd>;
  /** Resolves when both outputs have ended; never, when the guest vanished. */
  readonly outputsEnded: Promise<void>;
  /** Sends SIGTERM to the workload; before it runs, as soon as the guest is connected. */
  stop(): void;
  turnOff(): void;
  /** IPv4 addresses for the workload's resolv.conf. */
  setNameServers(addresses: readonly string[]): void;
  askForPorts(): void;
  onPorts(take: (ports: readonly number[]) => void): void;
}

const LONGEST_LINE = 4_096;

export async function awaitGuest(given: {
  readonly order: GuestLimits;
  /** For guest.mjs. */
  readonly details: object;
  /** Those of the moment when the guest asks. */
  nameServers(): readonly string[];
}): Promise<GuestChannel> {
  const [control, stdout, stderr, order] = await Promise.all([
    oneConnection(keeperPorts.control),
    oneConnection(keeperPorts.stdout),
    oneConnection(keeperPorts.stderr),
    oneConnection(keeperPorts.order),
  ]);
  let takePorts: (ports: readonly number[]) => void = () => undefined;
  const said: string[] = [];
  let connection: net.Socket | undefined;
  const say = (word: string) => {
    if (connection === undefined) said.push(word);
    else connection.write(`${word}\n`);
  };
  const ended = Promise.withResolvers<GuestEnd>();
  control.connection.then((socket) => {
    connection = socket;
    for (const word of said.splice(0)) say(word);
    readLines(socket, (line) => {
      const end = /^exit (\d{1,3}) (\d{1,9})$/.exec(line);
      if (end !== null) ended.resolve({ code: Number(end[1]), memoryKills: Number(end[2]) });
      else if (line.startsWith('ports ')) takePorts(parsePorts(line));
    });
  });
  const connected = order.connection.then((socket) => {
    socket.end(orderText(given));
    socket.resume();
  });
  return {
    connected,
    ended: ended.promise,
    outputsEnded: Promise.all([
      passOn(stdout.connection, process.stdout),
      passOn(stderr.connection, process.stderr),
    ]).then(() => undefined),
    stop: () => say('stop'),
    turnOff: () => say('off'),
    setNameServers: (servers) => say(['resolver', ...servers].join(' ')),
    askForPorts: () => say('ports'),
    onPorts(take) {
      takePorts = take;
    },
  };
}

/** Four lines for init, the rest for guest.mjs. */
function orderText(given: Parameters<typeof awaitGuest>[0]): string {
  const { memoryBytes, pids, nodeOptions, temporaryBytes, entry } = given.order;
  const limits = `${memoryBytes} ${pids} ${temporaryBytes} ${entry.runtime}`;
  return [limits, nodeOptions.join(' '), entry.path, given.nameServers().join(' '), JSON.stringify(given.details)].join(
    '\n',
  );
}

/** Listens now; its connection comes later, and a second one is not taken. */
async function oneConnection(port: number): Promise<{ readonly connection: Promise<net.Socket> }> {
  const server = net.createServer({ allowHalfOpen: true });
  const connection = new Promise<net.Socket>((resolve) => {
    server.once('connection', (socket) => {
      server.close();
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, addresses.host, 1, resolve);
  });
  return { connection };
}

/** Resolves when everything has been written; a Runtime that reads slowly slows down the guest. */
async function passOn(from: Promise<net.Socket>, to: NodeJS.WritableStream): Promise<void> {
  const socket = await from;
  socket.pipe(to, { end: false });
  await new Promise((resolve) => {
    socket.once('end', resolve);
    socket.once('close', resolve);
  });
  socket.end();
  await new Promise<void>((resolve) => {
    to.write('', () => resolve());
  });
}

/** Short lines; a guest that sends anything longer is not listened to any more. */
function readLines(socket: net.Socket, take: (line: string) => void): void {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    if (text.length > LONGEST_LINE) socket.destroy();
    for (const line of lines) take(line);
  });
}

/** `ports 1F90 23FA`, in hexadecimal as /proc/net/tcp has them. */
function parsePorts(line: string): number[] {
  const ports = line
    .split(' ')
    .slice(1)
    .map((word) => Number.parseInt(word, 16));
  return ports.filter((port) => port > 0 && port < 65_536).sort((one, other) => one - other);
}
