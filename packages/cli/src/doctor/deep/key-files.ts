// The key files of this machine: there, readable for its user and nobody else, and holding a key.
import { createPrivateKey } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import * as path from 'node:path';
import type { MemberKind } from '@platform/contract';
import { type PlatformConfig, readMasterKey } from '@platform/core/config';
import { reasonOf, systemCode } from '@platform/core/start';
import { acmeFolder } from '../../ingress/start-ingress.ts';
import { findIngressKey, ingressKeyFile } from '../../members/ingress-identity.ts';
import { joinedAs } from '../../members/membership.ts';
import { findNodeKey, nodeKeyFile } from '../../members/node-identity.ts';
import type { Finding } from '../finding.ts';
import { counted, type DeepCheck } from './deep-check.ts';

interface KeyFile {
  readonly file: string;
  readonly what: string;
  /** @throws Error for one that holds no key */
  readonly read?: () => unknown;
  /** What follows when it is gone. */
  readonly lost: string;
}

const CHECK = 'keys';

export const keyFiles: DeepCheck = {
  name: 'Reading the key files',
  async look(config) {
    const files = keyFilesOf(config, joinedAs(config.dataDirectory));
    const faults = files.flatMap((file) => faultOf(file, config.dataDirectory));
    if (faults.some(({ verdict }) => verdict === 'bad')) return faults;
    const found = `${counted(files.length, 'key file')}: there, whole, and closed to other users`;
    return [...faults, ...(faults.length === 0 ? [{ check: CHECK, verdict: 'good', found } as const] : [])];
  },
};

function keyFilesOf(config: PlatformConfig, kind: MemberKind | null): KeyFile[] {
  const { dataDirectory: folder, masterKeyFile, databaseUrl, ingressListen } = config;
  const node: KeyFile = {
    file: nodeKeyFile(folder),
    what: 'the key of this machine as a node',
    read: () => findNodeKey(folder),
    lost: 'If it is lost and the volumes are here: ./platform start --adopt',
  };
  const ingress: KeyFile = {
    file: ingressKeyFile(folder),
    what: 'the key of this machine as an Ingress',
    read: () => findIngressKey(folder),
    lost: 'If it is lost, the next start makes another one, and this machine is a new Ingress.',
  };
  if (kind === 'node') return [{ ...node, lost: 'If it is lost, remove this node at core, and join it again.' }];
  const ofCertificates = certificateKeys(acmeFolder(folder));
  if (kind === 'ingress')
    return [{ ...ingress, lost: 'If it is lost, remove this Ingress at core, and join it again.' }, ...ofCertificates];
  const master: KeyFile = {
    file: masterKeyFile,
    what: 'the master key',
    read: () => readMasterKey(masterKeyFile),
    lost: 'No other key opens the secrets in the database.',
  };
  const password: KeyFile = {
    file: path.join(folder, 'postgres', 'password'),
    what: 'the password of the embedded PostgreSQL',
    lost: 'If it is lost, the next start makes another one.',
  };
  return [
    master,
    node,
    ...(ingressListen === null ? [] : [ingress, ...ofCertificates]),
    ...(databaseUrl === null && existsSync(path.join(folder, 'postgres', 'data')) ? [password] : []),
  ];
}

/** Of the account and the certificates that an Ingress has of its authorities. */
function certificateKeys(folder: string): KeyFile[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.(?:key|pem)$/.test(name))
    .map((name) => ({
      file: path.join(folder, name),
      what: 'a key for the certificates of this Ingress',
      read: () => createPrivateKey(readFileSync(path.join(folder, name))),
      lost: 'If it is lost, remove the file: the Ingress orders another certificate.',
    }));
}

/** What others may do to it. */
const OTHERS = 0o077;

function faultOf({ file, what, read, lost }: KeyFile, folder: string): Finding[] {
  const bad = (found: string, cure: string): Finding[] => [{ check: CHECK, verdict: 'bad', found, cure }];
  let stat: Stats;
  try {
    stat = statSync(file);
    accessSync(file, constants.R_OK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return bad(`${what} is missing: ${file}`, `Restore it from a backup. ${lost}`);
    return bad(`${what}, ${file}, cannot be read (${reasonOf(error)})`, 'Give it to the user of the platform.');
  }
  try {
    read?.();
  } catch (error) {
    return bad(`${what} is damaged: ${reasonOf(error)}`, `Restore ${file} from a backup. ${lost}`);
  }
  if ((stat.mode & OTHERS) === 0) return [];
  const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
  // What mounts files of secrets elsewhere may have modes of its own.
  const verdict = file.startsWith(`${folder}${path.sep}`) ? 'bad' : 'warning';
  const cure = `Close it: chmod 0600 '${file}'. If others use this machine, take it for known to them.`;
  return [{ check: CHECK, verdict, found: `${what}, ${file}, is open to other users (mode ${mode})`, cure }];
}
