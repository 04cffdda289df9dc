// Certificates from a folder that an operator, or a program such as certbot, keeps up to date: `<host>.crt` with
// `<host>.key`, and `_.example.org.crt` for `*.example.org`. It is looked at every few seconds, since links, network
// filesystems and mounted secrets report no changes. What is wrong with a new pair leaves the former one in service.

import { readdir, readFile, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { sizeText } from '@platform/contract/sizes';
import {
  type Certificate,
  CertificateError,
  type CertificateName,
  isCertificateName,
  readCertificate,
} from './certificate.ts';
import {
  type CertificateEvents,
  type CertificateProblem,
  type CertificateSource,
  codeOf,
  expiryProblem,
  findCertificate,
  ReportedProblems,
} from './certificate-source.ts';

export interface CertificateFolderOptions extends CertificateEvents {
  readonly folder: string;
  readonly now: () => Date;
  /** Milliseconds between two looks. Default 10,000. */
  readonly interval?: number;
}

export interface CertificateFolder extends CertificateSource {
  /** Looks at the folder now. */
  look(): Promise<void>;
}

/** What is known of one name. */
interface Entry {
  /** Served now; `null` where no good pair has been there yet. */
  certificate: Certificate | null;
  /** Distinguishes a changed pair of files from the one that was read. */
  stamp: string;
  /** What was wrong at the last look. Files are often replaced one after the other, so it is reported at the second. */
  fault: string | null;
}

const INTERVAL = 10_000;
const MOST_PAIRS = 1_000;
const LARGEST_FILE = 128 * 1024;

/** @throws Error when the folder cannot be read */
export async function openCertificateFolder(options: CertificateFolderOptions): Promise<CertificateFolder> {
  const folder = new Folder(options);
  await folder.open();
  return folder;
}

class Folder implements CertificateFolder {
  readonly #options: CertificateFolderOptions;
  readonly #entries = new Map<CertificateName, Entry>();
  readonly #certificates = new Map<CertificateName, Certificate>();
  readonly #reported: ReportedProblems;
  /** Files whose name is none of a certificate. */
  #misnamed = new Set<string>();
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: CertificateFolderOptions) {
    this.#options = options;
    this.#reported = new ReportedProblems(options);
  }

  async open(): Promise<void> {
    await readdir(this.#options.folder);
    await this.look();
    this.#schedule();
  }

  current(host: string): Certificate | null {
    return findCertificate(this.#certificates, host);
  }

  served(): readonly Certificate[] {
    return [...this.#certificates.values()];
  }

  problems(): readonly CertificateProblem[] {
    return this.#reported.all();
  }

  async look(): Promise<void> {
    // One look at a time; a change during one is seen by the next.
    await this.#looking;
    this.#looking = this.#lookOnce();
    await this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.look().finally(() => this.#schedule());
    }, this.#options.interval ?? INTERVAL);
    this.#timer.unref();
  }

  async #lookOnce(): Promise<void> {
    const names = await this.#names();
    // An unreadable folder is no reason to drop what is served.
    if (names === null) return;
    for (const [name, stem] of names) await this.#lookAt(name, stem);
    for (const [name, entry] of this.#entries) {
      if (names.has(name)) continue;
      if (entry.fault === GONE) this.#forget(name);
      else entry.fault = GONE;
    }
  }

  /** Names, each with the file names of its pair before the ending. */
  async #names(): Promise<Map<CertificateName, string> | null> {
    const { folder } = this.#options;
    try {
      const files = await readdir(folder);
      this.#reported.set(folder, null);
      const stems = files.filter((file) => file.endsWith('.crt')).map((file) => file.slice(0, -'.crt'.length));
      const names = new Map<CertificateName, string>();
      const misnamed = new Set<string>();
      for (const stem of stems.sort()) {
        const name = stem.replace(/^_\./, '*.').toLowerCase();
        if (isCertificateName(name) && !names.has(name)) names.set(name, stem);
        else misnamed.add(stem);
        if (names.size === MOST_PAIRS) break;
      }
      this.#reportMisnamed(misnamed);
      return names;
    } catch (error) {
      this.#reported.set(folder, {
        name: folder,
        kind: 'unreadable',
        what: `the folder cannot be read: ${codeOf(error)}`,
      });
      return null;
    }
  }

  #reportMisnamed(misnamed: Set<string>): void {
    for (const stem of this.#misnamed.difference(misnamed)) this.#reported.set(`${stem}.crt`, null);
    for (const stem of misnamed) {
      const name = `${stem}.crt`;
      const what = 'the file is named after no host and no wildcard, or twice after one';
      this.#reported.set(name, { name, kind: 'file_name', what });
    }
    this.#misnamed = misnamed;
  }

  async #lookAt(name: CertificateName, stem: string): Promise<void> {
    const entry = this.#entries.get(name) ?? { certificate: null, stamp: '', fault: null };
    const isFirst = !this.#entries.has(name);
    this.#entries.set(name, entry);
    const files = ['.crt', '.key'].map((ending) => path.join(this.#options.folder, `${stem}${ending}`));
    const fault = await this.#read(name, entry, files);
    // At the start nobody is replacing anything.
    const isCertain = fault !== null && (isFirst || entry.fault !== null);
    entry.fault = fault;
    if (isCertain) this.#reported.set(name, { name, kind: 'pair', what: fault });
    else if (fault === null) {
      const expiry = entry.certificate === null ? null : expiryProblem(entry.certificate, this.#options.now());
      this.#reported.set(name, expiry);
    }
  }

  /** Serves the pair if it is another one and good. @returns what is wrong with it */
  async #read(name: CertificateName, entry: Entry, files: readonly string[]): Promise<string | null> {
    try {
      const stamp = (await Promise.all(files.map(stampOf))).join(' ');
      if (stamp === entry.stamp && entry.fault === null) return null;
      const [certificate = '', key = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      const read = readCertificate(name, { certificate, key }, this.#options.now());
      entry.stamp = stamp;
      if (read.fingerprint === entry.certificate?.fingerprint) return null;
      entry.certificate = read;
      this.#certificates.set(name, read);
      this.#options.onServed(read);
      return null;
    } catch (error) {
      if (error instanceof CertificateError) return error.message;
      const file = error instanceof Error && 'path' in error ? path.basename(String(error.path)) : 'the pair';
      return `${file} cannot be read: ${codeOf(error)}`;
    }
  }

  #forget(name: CertificateName): void {
    this.#entries.delete(name);
    this.#certificates.delete(name);
    this.#reported.set(name, null);
  }
}

const GONE = 'its files are gone';

async function stampOf(file: string): Promise<string> {
  const { mtimeNs, size, ino } = await stat(file, { bigint: true });
  if (size > LARGEST_FILE)
    throw new CertificateError(`${path.basename(file)} is larger than ${sizeText(LARGEST_FILE)}`);
  return `${ino}-${size}-${mtimeNs}`;
}
