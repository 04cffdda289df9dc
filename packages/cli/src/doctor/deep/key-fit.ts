// Whether the keys of this machine are those that the database knows: what is sealed opens, and its node, its Ingress and its data
// folder are those on record.

import type { PlatformConfig } from '@platform/core/config';
import {
  findNodeByKey,
  isIngressKey,
  isSamePlatform,
  opensControlCredentials,
  opensPushKey,
  type SealedValues,
  tryConversationKeys,
  tryPlatformKeys,
  tryProviderKeys,
  trySecrets,
} from '@platform/core/examine';
import type { CoreContext } from '@platform/core/operator';
import { withLocalCore } from '../../local/local-core.ts';
import { findIngressKey } from '../../members/ingress-identity.ts';
import { findNodeKey } from '../../members/node-identity.ts';
import type { Finding } from '../finding.ts';
import { counted, type DeepCheck } from './deep-check.ts';

const CHECK = 'keys';
const bad = (found: string, cure: string): Finding => ({ check: CHECK, verdict: 'bad', found, cure });

export const keyFit: DeepCheck = {
  name: 'Opening what is sealed',
  async look(config) {
    return withLocalCore(config, async (context) => [
      ...(await sealedFindings(context)),
      ...(await identityFindings(context, config)),
    ]);
  },
};

async function sealedFindings(context: CoreContext): Promise<Finding[]> {
  const { database, masterKey } = context;
  const [secrets, providerKeys] = [await trySecrets(context), await tryProviderKeys(context)];
  const conversations = await tryConversationKeys(context);
  const findings = [
    ...closedFinding(secrets, 'secret'),
    ...closedFinding(providerKeys, 'AI provider key'),
    ...closedFinding(await tryPlatformKeys(context), 'platform AI key'),
    ...closedFinding(conversations, 'conversation', 'Restore the database from a backup.'),
  ];
  const restore = 'Restore the database from a backup.';
  if (!(await opensPushKey(context)))
    findings.push(bad('the master key does not open the key for web push, so that no browser is notified', restore));
  if (!(await opensControlCredentials(database, masterKey)))
    findings.push(
      bad('the master key does not open the credential of a node', 'Restart that node: it gets a new one.'),
    );
  if (findings.length > 0) return findings;
  const count = secrets.count + providerKeys.count;
  const what = count === 0 ? 'no account has secrets' : `opens ${counted(count, 'secret')} of accounts`;
  return [{ check: CHECK, verdict: 'good', found: `the master key is that of the database; ${what}` }];
}

const SET_AGAIN = 'Restore the database from a backup, or have their owners set them again.';

function closedFinding({ count, closed }: SealedValues, noun: string, cure = SET_AGAIN): Finding[] {
  if (closed === 0) return [];
  const found = `the master key does not open ${closed} of ${counted(count, noun)}: altered in the database`;
  return [bad(found, cure)];
}

async function identityFindings({ database }: CoreContext, config: PlatformConfig): Promise<Finding[]> {
  const { dataDirectory: folder, localNode, ingressListen } = config;
  const findings: Finding[] = [];
  if (!(await isSamePlatform(database, folder)))
    findings.push(
      bad(
        `the data folder ${folder} and the database are not those of one platform`,
        'Restore both from one backup, or set PLATFORM_DATABASE_URL or PLATFORM_DATA_DIR to what belongs together.',
      ),
    );
  const [node, ingress] = [findNodeKey(folder), findIngressKey(folder)];
  if (localNode && node !== null && (await findNodeByKey(database, node.publicKey)) === undefined)
    findings.push(
      bad(
        'core knows no node with the key of this machine, node/node.key',
        'Restore node/node.key from a backup. If the key is lost and the volumes are here: ./platform start --adopt',
      ),
    );
  if (ingressListen !== null && ingress !== null && !(await isIngressKey(database, ingress.publicKey)))
    findings.push(
      bad(
        'core knows no Ingress with the key of this machine, ingress/ingress.key',
        'Restore ingress/ingress.key from a backup, or restart the platform: this machine is a new Ingress then.',
      ),
    );
  if (findings.length > 0) return findings;
  return [{ check: CHECK, verdict: 'good', found: 'this machine and its data folder are those that core knows' }];
}
