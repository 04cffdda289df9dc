// A deployment on https in one process of a test: a certificate of its own for some names, and what a proxy that ends TLS
// does in front of the platform. It listens on another loopback address, at the ports of the platform itself.
// First: the library demands it when it is loaded.
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import * as x509 from '@peculiar/x509';

/** Where the front listens; browsers are led here by their own resolver rules. */
export const FRONT_ADDRESS = '127.0.0.2';

export interface TlsFront {
  /** Base64 SHA-256 of the public key, as Chromium's `--ignore-certificate-errors-spki-list` takes it. */
  readonly keyHash: string;
  close(): Promise<void>;
}

/**
 * @param names hosts of the certificate, `*.` allowed
 * @param ports on which it listens, and at 127.0.0.1 finds the platform without TLS
 */
export async function startTlsFront(names: readonly string[], ports: readonly number[]): Promise<TlsFront> {
  const { key, cert, keyHash } = await certificateFor(names);
  const open = new Set<Socket>();
  const servers = ports.map((port) =>
    createServer({ key, cert }, (client) => {
      const platform = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [client, platform],
        [platform, client],
      ] as const) {
        open.add(one);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          open.delete(one);
          other.destroy();
        });
      }
    }).listen(port, FRONT_ADDRESS),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    keyHash,
    async close() {
      for (const server of servers) server.close();
      for (const socket of open) socket.destroy();
      await Promise.all(servers.map((server) => once(server, 'close')));
    },
  };
}

export async function certificateFor(
  names: readonly string[],
): Promise<{ key: string; cert: string; keyHash: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const day = 86_400_000;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=throw-away certificate of a test',
      notBefore: new Date(Date.now() - day),
      notAfter: new Date(Date.now() + day),
      signingAlgorithm: algorithm,
      keys,
      extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))],
    },
    crypto,
  );
  const [pkcs8, spki] = await Promise.all([
    crypto.subtle.exportKey('pkcs8', keys.privateKey),
    crypto.subtle.exportKey('spki', keys.publicKey),
  ]);
  return {
    key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
    cert: certificate.toString('pem'),
    keyHash: createHash('sha256').update(Buffer.from(spki)).digest('base64'),
  };
}
