// What `platform doctor` and `platform messaging init` say of messages to other servers: core reaches the bridge, the bridge and its
// homeserver reach each other, and other servers and clients find the homeserver.
import { MESSAGING_BRIDGE_PATH, MESSAGING_BRIDGE_VERSION, messagingBridgeFailure } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { reasonOf } from '@platform/core/start';
import { findRegistration, type Registration, usersOf } from '../../messaging-bridge/registration.ts';
import type { Finding, Verdict } from '../finding.ts';
import { askJson, type JsonAnswer, type JsonRequest } from './ask-json.ts';

const CHECK = 'messages';
/** Of the client-server API: the first in which a homeserver can be asked to reach an application service. */
const LEAST_VERSION = [1, 7] as const;

type Settings = Pick<PlatformConfig, 'messaging' | 'messagingBridge'> & {
  readonly outbound: Pick<PlatformConfig['outbound'], 'ca'>;
};

/** None where nothing of it is configured. */
export async function messagingFindings(config: Settings): Promise<Finding[]> {
  return [
    ...(await bridgeFindings(config)),
    ...(await homeserverFindings(config)),
    ...(await federationFindings(config)),
    ...(await clientFindings(config)),
  ];
}

async function bridgeFindings({ messaging: { bridge }, outbound }: Settings): Promise<Finding[]> {
  if (bridge.kind === 'none') return [];
  if (bridge.kind === 'incomplete')
    return [
      bad(`${bridge.missing} is not set, so nobody can write messages`, `Set ${bridge.missing}, too, or neither.`),
    ];
  const url = bridge.url + MESSAGING_BRIDGE_PATH;
  const answer = await asked(url, { method: 'POST', body: {}, token: bridge.token, ca: outbound.ca });
  if (typeof answer === 'string')
    return [
      bad(
        `the bridge at ${bridge.url} does not answer (${answer})`,
        'Start it, and check PLATFORM_MESSAGING_BRIDGE_URL.',
      ),
    ];
  if (answer.status === 401 || answer.status === 403)
    return [
      bad(
        `the bridge at ${bridge.url} does not accept PLATFORM_MESSAGING_BRIDGE_TOKEN`,
        'Set the same token for core and the bridge, and restart both.',
      ),
    ];
  // It is asked for nothing, so that it refuses the request itself, or says why it cannot work.
  const failure = messagingBridgeFailure.safeParse(answer.json).data;
  if (failure !== undefined)
    return [
      bad(
        `the bridge at ${bridge.url} cannot work: ${failure.error.message.replace(/\.$/, '')}`,
        'See its log, and docs/operations/messaging.md, “When something is amiss”.',
      ),
    ];
  if (answer.status !== 400 && answer.json.version !== MESSAGING_BRIDGE_VERSION)
    return [
      bad(
        `what answers at ${bridge.url} is no messaging bridge (${answer.status})`,
        'Check PLATFORM_MESSAGING_BRIDGE_URL.',
      ),
    ];
  return [good(`core reaches the bridge at ${bridge.url}`)];
}

async function homeserverFindings(config: Settings): Promise<Finding[]> {
  const { homeserverUrl, registrationFile } = config.messagingBridge;
  if (homeserverUrl === null) return [];
  const found = findRegistration(registrationFile);
  if (found.kind === 'missing') return [bad(`${registrationFile} is missing`, 'Write it: ./platform messaging init')];
  if (found.kind === 'unusable')
    return [bad(`${registrationFile} ${found.why}`, 'Move it away, and write a new one: ./platform messaging init')];
  const { registration, isOpen } = found;
  return [
    ...(isOpen
      ? [
          finding('warning', `everybody on this machine can read ${registrationFile}, and act as any account with it`, {
            cure: `chmod 640 ${registrationFile}`,
          }),
        ]
      : []),
    ...namespaceFindings(config, registration),
    ...(await connectionFindings(config, homeserverUrl, registration)),
  ];
}

function namespaceFindings({ messaging, messagingBridge }: Settings, { namespaces }: Registration): Finding[] {
  const wanted = usersOf(messaging.serverName);
  if (namespaces.users.some(({ exclusive, regex }) => exclusive && regex === wanted)) return [];
  return [
    bad(
      `${messagingBridge.registrationFile} does not reserve the names of accounts of ${messaging.serverName}`,
      `Put { "exclusive": true, "regex": ${JSON.stringify(wanted)} } among its users, and restart the homeserver.`,
    ),
  ];
}

async function connectionFindings(config: Settings, url: string, registration: Registration): Promise<Finding[]> {
  const { messaging, outbound } = config;
  const { ca } = outbound;
  const versions = await asked(`${url}/_matrix/client/versions`, { ca });
  if (typeof versions === 'string')
    return [
      bad(
        `the homeserver at ${url} does not answer (${versions})`,
        'Start it, and check PLATFORM_MESSAGING_HOMESERVER_URL.',
      ),
    ];
  if (versions.status !== 200 || !Array.isArray(versions.json.versions))
    return [bad(`what answers at ${url} is no homeserver`, 'Check PLATFORM_MESSAGING_HOMESERVER_URL.')];
  if (!versions.json.versions.some(isNewEnough))
    return [
      bad(
        `the homeserver at ${url} is too old`,
        `Install one that knows version ${LEAST_VERSION.join('.')} of Matrix or later.`,
      ),
    ];
  const token = registration.as_token;
  const own = await asked(`${url}/_matrix/client/v3/account/whoami`, { token, ca });
  if (typeof own === 'string' || own.status !== 200)
    return [
      bad(
        `the homeserver at ${url} does not know the registration`,
        'Add the file to app_service_config_files of the homeserver, and restart it.',
      ),
    ];
  const wanted = `@${registration.sender_localpart}:${messaging.serverName}`;
  if (own.json.user_id !== wanted)
    return [
      bad(
        `the homeserver says that the bridge is ${String(own.json.user_id)}, and core expects ${wanted}`,
        'The server name of the homeserver and PLATFORM_MESSAGING_SERVER_NAME must be the same.',
      ),
    ];
  const ping = await asked(`${url}/_matrix/client/v1/appservice/${registration.id}/ping`, {
    method: 'POST',
    body: { transaction_id: 'platform-doctor' },
    token,
    ca,
  });
  if (typeof ping === 'string' || ping.status !== 200)
    return [
      good(`the bridge reaches the homeserver at ${url}`),
      bad(
        `the homeserver does not reach the bridge at ${registration.url}`,
        'Start the platform with its bridge, and check `url` in the registration and PLATFORM_MESSAGING_BRIDGE_LISTEN.',
      ),
    ];
  return [good(`the bridge and the homeserver at ${url} reach each other`)];
}

function isNewEnough(version: unknown): boolean {
  const [, major, minor] = /^v(\d+)\.(\d+)$/.exec(String(version)) ?? [];
  const [leastMajor, leastMinor] = LEAST_VERSION;
  return Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
}

/** As another server does it: the document under the server name, and then the server that it names. */
async function federationFindings({ messaging, messagingBridge, outbound }: Settings): Promise<Finding[]> {
  const { serverName, federation } = messaging;
  if (federation === null && messagingBridge.homeserverUrl === null) return [];
  const { ca } = outbound;
  const hasPort = /:\d+$/.test(serverName);
  const findings: Finding[] = [];
  let place = federation ?? (hasPort ? serverName : `${serverName}:8448`);
  if (!hasPort) {
    const document = `https://${serverName}/.well-known/matrix/server`;
    const answer = await asked(document, { ca });
    const named = typeof answer === 'string' || answer.status !== 200 ? null : answer.json['m.server'];
    if (federation === null && typeof named === 'string') place = named.includes(':') ? named : `${named}:8448`;
    if (federation !== null && named !== federation)
      findings.push(
        bad(
          typeof answer === 'string'
            ? `${document} cannot be reached (${answer}), so other servers do not find the homeserver`
            : `${document} does not name ${federation}, so other servers do not find the homeserver`,
          `Lead ${serverName} to core: docs/operators.md, “Messages to other servers”.`,
        ),
      );
  }
  const version = await asked(`https://${place}/_matrix/federation/v1/version`, { ca });
  if (typeof version === 'string' || version.status !== 200)
    return [
      ...findings,
      bad(
        `other servers do not reach the homeserver at ${place} (${typeof version === 'string' ? version : version.status})`,
        'Open its port, give it a certificate for this name, or correct PLATFORM_MESSAGING_FEDERATION.',
      ),
    ];
  const keys = await asked(`https://${place}/_matrix/key/v2/server`, { ca });
  const name = typeof keys === 'string' ? undefined : keys.json.server_name;
  if (name !== serverName)
    return [
      ...findings,
      bad(
        `the homeserver at ${place} calls itself ${String(name)}, and addresses end in ${serverName}`,
        'The server name of the homeserver and PLATFORM_MESSAGING_SERVER_NAME must be the same.',
      ),
    ];
  return findings.length > 0 ? findings : [good(`other servers reach the homeserver at ${place}`)];
}

async function clientFindings({
  messaging: { clientUrl, serverName },
  outbound: { ca },
}: Settings): Promise<Finding[]> {
  if (clientUrl === null) return [];
  const document = `https://${serverName.replace(/:\d+$/, '')}/.well-known/matrix/client`;
  const answer = await asked(document, { ca });
  const named =
    typeof answer === 'string' ? undefined : (answer.json['m.homeserver'] as { base_url?: unknown } | undefined);
  if (named?.base_url !== clientUrl)
    return [
      finding('warning', `${document} does not name ${clientUrl}, so Matrix clients do not find the homeserver`, {
        cure: `Lead ${serverName} to core: docs/operators.md, “Messages to other servers”.`,
      }),
    ];
  return [good(`Matrix clients find the homeserver at ${clientUrl}`)];
}

/** The answer, or why there is none. */
async function asked(url: string, request: JsonRequest): Promise<JsonAnswer | string> {
  return askJson(url, request).catch(reasonOf);
}

function good(found: string): Finding {
  return finding('good', found);
}

function bad(found: string, cure: string): Finding {
  return finding('bad', found, { cure });
}

function finding(verdict: Verdict, found: string, more: { readonly cure?: string } = {}): Finding {
  return { check: CHECK, verdict, found, ...more };
}
