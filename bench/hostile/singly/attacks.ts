// Every attack that is measured by itself, by the name that it has in the table.
import type { AttackTools } from './attack-tools.ts';
import type { Scene } from './scene.ts';

/** Begins the attack, which goes on until its process ends. */
export type Attack = (scene: Scene, tools: AttackTools) => void;

const SENDERS = 32;
const CHUNKED = { 'transfer-encoding': 'chunked' };

const toBackend =
  (path: string): Attack =>
  ({ backends: [door] }, { pour }) => {
    if (door === undefined) return;
    const headers = { ...door.headers, ...CHUNKED };
    pour(SENDERS, { port: door.port, line: `POST ${door.path}${path}`, headers, body: true });
  };

const answersOf =
  (reads: boolean): Attack =>
  ({ backends: [door] }, { pour }) => {
    if (door !== undefined) pour(SENDERS, { ...door, line: `GET ${door.path}/bytes`, body: false, reads });
  };

const within =
  (attack: string, installations = 1): Attack =>
  ({ backends }, { begin }) => {
    for (const door of backends.slice(0, installations)) begin(attack, door);
  };

export const attacks: Readonly<Record<string, Attack>> = {
  'one-byte chunks to a backend that reads them': toBackend('/read'),
  'one-byte chunks to a backend that does not read': toBackend('/hold'),
  'one-byte chunks to core, of an account and of a stranger': ({ port, origin, cookie }, { pour }) => {
    const shell = { host: new URL(origin).host, origin, ...CHUNKED };
    const ofAccount = { ...shell, cookie };
    const upload = { ...ofAccount, 'content-type': 'application/gzip' };
    const json = { 'content-type': 'application/json' };
    pour(16, { port, line: 'PUT /v1/catalog/hostile-bytes/versions/1.0.0', headers: upload, body: true });
    pour(16, { port, line: 'POST /v1/apps', headers: { ...ofAccount, ...json }, body: true });
    const stranger = { port, localAddress: '127.0.0.2', body: true };
    pour(16, { ...stranger, line: 'POST /v1/auth/login/verify', headers: { ...shell, ...json } });
  },
  'one-byte chunks to core, through the Gateway of a workload': within('bodies to a service'),
  'one-byte chunks to object storage': within('bodies to the store'),
  'answers of one-byte chunks': answersOf(true),
  'answers of one-byte chunks that nobody reads': answersOf(false),
  'newlines into the log': within('newlines'),
  'lines of 1 MiB into the log': within('long lines'),
  'XML of attributes, namespaces and nesting to object storage': within('xml'),
  'indexes and searches of five installations': ({ port, origin, cookie, backends }, { begin, ask }) => {
    for (const door of backends) begin('indexes', door);
    const path = `/v1/search?q=${encodeURIComponent('a0xyz b1xyz entry w o r d '.repeat(6))}`;
    ask(16, { port, path, headers: { host: new URL(origin).host, origin, cookie } });
  },
  'refused services, held back, of a frontend': ({ port, origin, frontend }, { ask }) => {
    const headers = {
      host: new URL(origin).host,
      origin: frontend.origin,
      authorization: `Bearer ${frontend.capability}`,
    };
    ask(256, { port, path: '/v1/services/notifications', headers });
  },
  'refused services, held back, of a workload': within('refused services'),
};
