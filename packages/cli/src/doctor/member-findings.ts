// The part of `platform doctor` for a machine that joined as a node or an Ingress: whether it runs, and reaches core.
import type { MemberKind } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { openDataFolder, reasonOf, StartError } from '@platform/core/start';
import {
  fetchOverLink,
  isIrohAddress,
  type LinkKey,
  linkCertificate,
  readPublicKey,
  WrongKeyError,
} from '@platform/link';
import { findIngressKey, ingressKeyFile } from '../members/ingress-identity.ts';
import { type Membership, requireMembership, WORDS } from '../members/membership.ts';
import { findNodeKey, nodeKeyFile } from '../members/node-identity.ts';
import type { Finding } from './finding.ts';

const CORE_MILLISECONDS = 5_000;

export async function memberFindings(config: PlatformConfig, kind: MemberKind): Promise<Finding[]> {
  const { dataDirectory } = config;
  try {
    const member = requireMembership(kind, dataDirectory);
    const key = kind === 'node' ? findNodeKey(dataDirectory) : findIngressKey(dataDirectory);
    if (key === null) throw keyMissing(kind, dataDirectory);
    return [runFinding(dataDirectory, kind, member), await coreFinding(member, key)];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [
      {
        check: 'member',
        verdict: 'bad',
        found: `this machine joined as ${WORDS[kind]}, and cannot run`,
        cure: error.message,
      },
    ];
  }
}

function keyMissing(kind: MemberKind, dataDirectory: string): StartError {
  const file = kind === 'node' ? nodeKeyFile(dataDirectory) : ingressKeyFile(dataDirectory);
  return new StartError(
    'member_key_missing',
    `Its key, ${file}, is missing. Restore it from a backup; or remove this machine at core, and join it again.`,
  );
}

/** Whether a process of the platform uses the data folder. */
export function isInUse(dataDirectory: string): boolean {
  try {
    openDataFolder(dataDirectory).close();
    return false;
  } catch (error) {
    if (error instanceof StartError && error.code === 'data_folder_in_use') return true;
    throw error;
  }
}

function runFinding(dataDirectory: string, kind: MemberKind, { name }: Membership): Finding {
  const what = `${kind === 'node' ? 'node' : 'Ingress'} ${name}`;
  if (isInUse(dataDirectory)) return { check: 'member', verdict: 'good', found: `the ${what} runs` };
  const cure = `Run it with \`platform ${kind} start\`.`;
  return { check: 'member', verdict: 'bad', found: `this machine is the ${what}, which does not run`, cure };
}

async function coreFinding({ coreUrl, coreHost, coreKey }: Membership, key: LinkKey): Promise<Finding> {
  const check = 'core';
  if (isIrohAddress(coreUrl))
    return { check, verdict: 'good', found: `is reached over iroh, which is not checked here` };
  try {
    // Whatever it answers: it has proved that it is core.
    const answer = await fetchOverLink(`${coreUrl}/v1/health`, {
      method: 'GET',
      host: coreHost,
      key: (coreKey === null ? null : readPublicKey(coreKey)) ?? undefined,
      certificate: await linkCertificate(key),
      headers: {},
      signal: AbortSignal.timeout(CORE_MILLISECONDS),
    });
    await answer.body?.cancel();
    return { check, verdict: 'good', found: `answers at ${coreUrl}` };
  } catch (error) {
    if (error instanceof WrongKeyError)
      return {
        check,
        verdict: 'bad',
        found: `what answers at ${coreUrl} does not prove core's key`,
        cure: 'See that the address is still that of core. If core has a new key, remove this machine there and join it again.',
      };
    return {
      check,
      verdict: 'bad',
      found: `does not answer at ${coreUrl} (${reasonOf(error)})`,
      cure: 'See that core runs, and that no firewall blocks its address.',
    };
  }
}
