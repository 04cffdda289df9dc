// The backend of the attacker. Its own pages are attacks on whoever carries their bodies: `/read` reads a body, `/hold` does not,
// `/bytes` answers in one-byte chunks without end. `/begin?attack=…&seconds=…` makes an attack from within and answers with how
// often it was answered what.
import http from 'node:http';
import net from 'node:net';

const { SOCKET, PORT, PLATFORM_API_URL, PLATFORM_GATEWAY_TOKEN } = process.env;
const { PLATFORM_S3_ENDPOINT, PLATFORM_S3_BUCKET, PLATFORM_S3_SESSION_TOKEN } = process.env;
const ONE_BYTE = Buffer.from('1\r\n \r\n'.repeat(16_384));
const LONGEST = 1_500_000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Writes the bytes again and again, as fast as they are taken, until the stream ends. */
function flood(stream, bytes) {
  const write = () => {
    while (stream.writable && stream.write(bytes));
  };
  stream.on('drain', write);
  write();
}

/** A request whose body never ends, in chunks of one byte. @returns the status of its answer */
function pour(base, line, fields, isOver) {
  const { hostname, port, host } = new URL(base);
  const { promise, resolve } = Promise.withResolvers();
  const socket = net.connect({ host: hostname, port: Number(port) }, () => {
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\n${fields}Transfer-Encoding: chunked\r\n\r\n`);
    flood(socket, ONE_BYTE);
  });
  const timer = setInterval(() => isOver() && socket.destroy(), 100);
  let status = 'cut';
  socket.on('data', (bytes) => {
    status = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1'))?.[1] ?? status;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    resolve(status);
  });
  return promise;
}

function send(url, { method = 'GET', headers, body }) {
  const { promise, resolve } = Promise.withResolvers();
  const request = http.request(url, { method, headers, agent: false }, (answer) => {
    answer.on('end', () => resolve(answer.statusCode)).on('error', () => resolve('cut'));
    answer.resume();
  });
  request.on('error', () => resolve('cut')).end(body);
  return promise;
}

const ofGateway = { authorization: `Bearer ${PLATFORM_GATEWAY_TOKEN}` };
const json = { ...ofGateway, 'content-type': 'application/json' };
const ofStore = { 'x-amz-security-token': PLATFORM_S3_SESSION_TOKEN };
const bucket = `${PLATFORM_S3_ENDPOINT}/${PLATFORM_S3_BUCKET}`;

function repeated(piece) {
  let text = '';
  for (let index = 0; text.length < LONGEST; index += 1) text += piece(index);
  return text;
}

/** Documents of 1.5 MB, made of one thing each, as in the tests of the reader of XML. */
const documents = () => [
  `<Delete${repeated((index) => ` b${index}=""`)}/>`,
  `<Delete${repeated((index) => ` xmlns:b${index}="c"`)}/>`,
  `<Delete>${'<b>'.repeat(LONGEST / 3)}`,
  `<Delete>${repeated(() => '<b c=""/>')}</Delete>`,
  `<Delete b="${'\n'.repeat(LONGEST)}"/>`,
  `<Delete>${repeated(() => '&#x26;')}</Delete>`,
  `<Delete>${repeated(() => '<!---->')}</Delete>`,
  `<Delete>${repeated(() => '<Object><Key>a</Key></Object>')}</Delete>`,
];

/** Two indexes of 10,000 entries and 8 MB that have no word in common, so that each replaces every word of the other. */
const indexes = () =>
  ['a', 'b'].map((letter) => {
    let words = 0;
    const text = () => Array.from({ length: 80 }, () => `${letter}${(words++ % 50_000).toString(36)}xyzuv`).join(' ');
    const entry = (at) => ({ id: `e${at}`, title: `Entry ${at}`, url: `/e/${at}`, text: text() });
    return JSON.stringify({ entries: Array.from({ length: 10_000 }, (_, at) => entry(at)) });
  });

/** By name: how many at a time, and one of them. */
const attacks = {
  'bodies to a service': () => {
    const fields = `Authorization: Bearer ${PLATFORM_GATEWAY_TOKEN}\r\nContent-Type: application/json\r\n`;
    return [16, (isOver) => pour(PLATFORM_API_URL, 'PUT /v1/services/search/index', fields, isOver)];
  },
  'bodies to the store': () => {
    const fields = `X-Amz-Security-Token: ${PLATFORM_S3_SESSION_TOKEN}\r\n`;
    let count = 0;
    return [
      16,
      (isOver) => {
        count += 1;
        return pour(PLATFORM_S3_ENDPOINT, `PUT /${PLATFORM_S3_BUCKET}/o${count % 16}`, fields, isOver);
      },
    ];
  },
  newlines: () => [1, (isOver) => shout('\n'.repeat(65_536), isOver)],
  'long lines': () => [1, (isOver) => shout(`${'x'.repeat(1_048_576)}\n`, isOver)],
  xml: () => {
    const bodies = documents();
    let count = 0;
    return [
      8,
      () => {
        count += 1;
        const body = bodies[count % bodies.length];
        return send(`${bucket}?delete`, { method: 'POST', headers: ofStore, body });
      },
    ];
  },
  indexes: () => {
    const bodies = indexes();
    let count = 0;
    return [
      2,
      () => {
        count += 1;
        const body = bodies[count % 2];
        return send(`${PLATFORM_API_URL}/v1/services/search/index`, { method: 'PUT', headers: json, body });
      },
    ];
  },
  'refused services': () => [256, () => send(`${PLATFORM_API_URL}/v1/services/notifications`, { headers: ofGateway })],
};

/** Both streams at once, as fast as they are taken. */
async function shout(text, isOver) {
  const shouting = async (stream) => {
    while (!isOver()) await new Promise((resolve) => stream.write(text, resolve));
  };
  await Promise.all([shouting(process.stdout), shouting(process.stderr)]);
  return 'written';
}

async function begin(name, seconds) {
  const [times, act] = attacks[name]();
  const until = performance.now() + 1_000 * seconds;
  const isOver = () => performance.now() > until;
  const counts = {};
  const loop = async () => {
    while (!isOver()) {
      const status = await act(isOver);
      counts[status] = (counts[status] ?? 0) + 1;
      // One that gets no answer waits a little, so as not to measure this process alone.
      if (status === 'cut') await pause(100);
    }
  };
  await Promise.race([Promise.all(Array.from({ length: times }, loop)), pause(1_000 * seconds + 1_000)]);
  return counts;
}

http
  .createServer({ requestTimeout: 0 }, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://a');
    if (pathname === '/hold') return;
    if (pathname === '/read') {
      request.resume().on('end', () => response.end());
      return;
    }
    if (pathname === '/bytes') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.flushHeaders();
      // Below the response, which would put them in chunks of its own.
      flood(response.socket, ONE_BYTE);
      return;
    }
    const attack = searchParams.get('attack');
    response.end(JSON.stringify(attack === null ? {} : await begin(attack, Number(searchParams.get('seconds')))));
  })
  .listen(SOCKET ?? Number(PORT));
