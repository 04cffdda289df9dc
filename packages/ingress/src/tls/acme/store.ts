// What ACME leaves on this machine, readable for its owner only: the account, each certificate with its key in one file, and
// when what failed may be tried again. One folder for each directory of an authority.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod';
import { type CertificateName, type CertificatePair, isCertificateName } from '../certificate.ts';
import { type ProblemKind, problemKinds } from '../certificate-source.ts';
import type { AcmeAccount } from './authority.ts';

/** An order that failed. */
export interface FailedOrder {
  readonly failures: number;
  /** Milliseconds since 1970. */
  readonly retryAt: number;
  /** Why, as in `CertificateProblem`. */
  readonly kind: ProblemKind;
  readonly what: string;
}

export interface OrderState {
  /** Until then nothing is ordered at all: the authority said so. */
  readonly pausedUntil: number;
  readonly failed: Readonly<Record<CertificateName, FailedOrder>>;
}

const orderState = z.object({
  pausedUntil: z.number(),
  failed: z.record(
    z.string(),
    z.object({
      failures: z.number(),
      retryAt: z.number(),
      // Former versions kept no reasons.
      kind: z.enum(problemKinds).default('order'),
      what: z.string().default('its last order failed'),
    }),
  ),
});

const ENDING = '.pem';
const KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]+-----END (?:[A-Z]+ )?PRIVATE KEY-----/;

export class AcmeStore {
  /** Of this authority. */
  readonly folder: string;
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @param parent a folder of the Ingress, made where it is missing */
  static async open(parent: string, directory: string): Promise<AcmeStore> {
    const folder = path.join(parent, createHash('sha256').update(directory).digest('hex').slice(0, 16));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new AcmeStore(folder);
  }

  async account(): Promise<AcmeAccount> {
    const key = await this.#read('account.key');
    const url = await this.#read('account.url');
    if (key !== null) return { key, url };
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await this.#write('account.key', pem);
    return { key: pem, url: null };
  }

  async saveAccount(url: string | null): Promise<void> {
    if (url === null) await this.#remove('account.url');
    else await this.#write('account.url', url);
  }

  async certificates(): Promise<Map<CertificateName, CertificatePair>> {
    const pairs = new Map<CertificateName, CertificatePair>();
    for (const file of await readdir(this.folder)) {
      if (!file.endsWith(ENDING)) continue;
      const name = file.slice(0, -ENDING.length).replace(/^_\./, '*.');
      const text = (await this.#read(file)) ?? '';
      if (isCertificateName(name))
        pairs.set(name, { certificate: text.replace(KEY, ''), key: KEY.exec(text)?.[0] ?? '' });
    }
    return pairs;
  }

  /** In one file, so that a certificate never stands beside the key of another. */
  async saveCertificate(name: CertificateName, { certificate, key }: CertificatePair): Promise<void> {
    await this.#write(fileOf(name), `${key.trim()}\n${certificate}`);
  }

  async removeCertificate(name: CertificateName): Promise<void> {
    await this.#remove(fileOf(name));
  }

  async orders(): Promise<OrderState> {
    const text = await this.#read('orders.json');
    try {
      return orderState.parse(JSON.parse(text ?? ''));
    } catch {
      return { pausedUntil: 0, failed: {} };
    }
  }

  async saveOrders(state: OrderState): Promise<void> {
    await this.#write('orders.json', JSON.stringify(state));
  }

  async #read(name: string): Promise<string | null> {
    try {
      return await readFile(path.join(this.folder, name), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  /** One after the other, each whole or not at all, also across a loss of power. */
  #write(name: string, text: string): Promise<void> {
    const written = this.#lastWrite.then(() => this.#writeNow(name, text));
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async #writeNow(name: string, text: string): Promise<void> {
    const file = path.join(this.folder, name);
    const fresh = `${file}.new`;
    const handle = await open(fresh, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  }

  async #remove(name: string): Promise<void> {
    await rm(path.join(this.folder, name), { force: true });
  }
}

const fileOf = (name: CertificateName): string => `${name.replace(/^\*\./, '_.')}${ENDING}`;
