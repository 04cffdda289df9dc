// Files: those of the app, those that others opened to it or its person handed to it, and for Files those of the person.
import type { AppFile, FileAccessEntry, FileTransfer, SharedFile, UserFile } from '@platform/contract';
import {
  type Bytes,
  type BytesToWrite,
  deleteBytes,
  readBytes,
  type WriteConditions,
  type WriteOptions,
  writeBytes,
} from './bytes-call.ts';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { callService } from './service-call.ts';
import type { Page, PageOptions } from './services.ts';

export interface FilesService {
  /** The files of this app, by name. They need no grant. */
  list(options?: PageOptions): Promise<Page<AppFile>>;
  /** The bytes of a file, and their version. @throws {PlatformError} `not_found` */
  get(name: string, options?: CallOptions): Promise<Bytes>;
  /**
   * Writes a file, at most 100 MiB.
   *
   * @throws {PlatformError} `precondition_failed` when the condition does not hold, `disk_quota`
   */
  put(name: string, body: BytesToWrite, options?: WriteOptions): Promise<AppFile>;
  /** Deletes a file. */
  remove(name: string, options?: CallOptions & Pick<WriteConditions, 'ifMatch'>): Promise<void>;
  /** To whom one of them is open. */
  access(name: string, options?: CallOptions): Promise<FileAccessEntry[]>;
  /** Opens it to these apps of the same account and to these accounts, and to nobody else. */
  open(name: string, entries: readonly FileAccessEntry[], options?: CallOptions): Promise<FileAccessEntry[]>;
  /** What other apps opened to this one, and what its person handed to it, such as by `pickFile`. */
  shared(options?: PageOptions): Promise<Page<SharedFile>>;
  /** The bytes of such a file. @throws {PlatformError} `not_found`, also once it was taken back */
  getShared(id: string, options?: CallOptions): Promise<Bytes>;
  /** Writes such a file. @throws {PlatformError} `not_authorized` for one that may only be read */
  putShared(
    id: string,
    body: BytesToWrite,
    options?: CallOptions & Pick<WriteOptions, 'ifMatch' | 'type'>,
  ): Promise<UserFile>;
}

const FILES = '/v1/services/files';
const ONE = `${FILES}/:name`;
const SHARED = `${FILES}/shared/:id`;

export function filesService(access: ServiceAccess): FilesService {
  const at = (name: string) => ({ path: ONE, parameters: { name } });
  return {
    list: ({ limit, cursor, ...options } = {}) =>
      callService<'services.files.list'>(access, { method: 'GET', path: FILES, query: { limit, cursor } }, options),
    get: (name, options) => readBytes(access, at(name), options),
    async put(name, body, options) {
      return (await writeBytes<{ file: AppFile }>(access, at(name), body, options)).file;
    },
    remove: (name, options) => deleteBytes(access, at(name), options),
    async access(name, options) {
      const input = { method: 'GET', path: `${ONE}/access`, parameters: { name } } as const;
      return (await callService<'services.files.access.read'>(access, input, options)).entries;
    },
    async open(name, entries, options) {
      const body = { entries: [...entries] };
      const input = { method: 'PUT' as const, path: `${ONE}/access` as const, parameters: { name }, body };
      return (await callService<'services.files.access.replace'>(access, input, options)).entries;
    },
    shared: ({ limit, cursor, ...options } = {}) => {
      const input = { method: 'GET', path: `${FILES}/shared`, query: { limit, cursor } } as const;
      return callService<'services.files.shared'>(access, input, options);
    },
    getShared: (id, options) => readBytes(access, { path: SHARED, parameters: { id } }, options),
    async putShared(id, body, options) {
      const call = { path: SHARED, parameters: { id } };
      return (await writeBytes<{ file: UserFile }>(access, call, body, options)).file;
    },
  };
}

/** Only for the platform’s own Files. */
export interface UserFilesService {
  /** By name. */
  list(options?: PageOptions): Promise<Page<UserFile>>;
  /** Adds a file. @param onProgress called with the share that is sent, 0 to 1 */
  create(name: string, body: Blob, onProgress?: (share: number) => void): Promise<void>;
  /** The bytes of a file. */
  get(id: string, options?: CallOptions): Promise<Bytes>;
  /** The name gets a number where it is taken. */
  rename(id: string, name: string, options?: CallOptions): Promise<UserFile>;
  /** Deletes a file; the apps that have it lose it. */
  remove(id: string, options?: CallOptions): Promise<void>;
  /** Which files apps have. */
  transfers(options?: PageOptions): Promise<Page<FileTransfer>>;
  /** Takes a file back from an app. */
  takeBack(id: string, appId: string, options?: CallOptions): Promise<void>;
}
