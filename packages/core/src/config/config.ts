// The configuration of core after reading and checking: no strings to interpret any more.

/** An S3 store. */
export interface ObjectStore {
  /** Origin, https but on loopback. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Whether the bucket stands in the path, or before the host. */
  readonly pathStyle: boolean;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string | undefined;
  };
}

export interface CoreConfig {
  /** Exact origin of the shell and its API, e.g. `http://shell.platform.localhost:8787`. */
  readonly origin: string;
  readonly rpId: string;
  readonly rpName: string;
  /** Older PRF salt, or `null`. */
  readonly prfLegacySalt: Buffer | null;
  readonly sessionMilliseconds: number;
  readonly challengeMilliseconds: number;
  /** Without the prefix that it has on https: `sessionCookieName` is what browsers see. */
  readonly sessionCookie: string;
  /** Host suffix of app frontends, without leading dot, e.g. `apps.platform.localhost`. */
  readonly appsDomain: string;
  /** Host suffix of the internet addresses of apps, without leading dot, e.g. `public.platform.localhost`. */
  readonly ingressDomain: string;
  /** How people reach those addresses: the port with its colon, or empty. */
  readonly ingressOrigin: { readonly scheme: 'http' | 'https'; readonly port: string };
  readonly nodeOrigin: string;
  /** A node without a heartbeat for so long is taken for lost. */
  readonly nodeLostMilliseconds: number;
  /** Notifications are removed after so many days. */
  readonly notificationDays: number;
  /** Notifications of one account at most; the oldest go first. */
  readonly notificationsKept: number;
  /** Volumes and published packages of one account may take so much together. */
  readonly accountDiskBytes: number;
  /** Of the memory of each node, backends of one account that never sleep may reserve so much; the master account all. */
  readonly accountMemoryPercent: number;
  /** Public UDP ports of the apps of one account together. */
  readonly accountUdpPorts: number;
  /** The plan of accounts for which the operator set none; `null` where Fleet says it. */
  readonly defaultPlan: 'free' | 'paid' | null;
  /** Where the objects of apps lie, or `null` where there is no store. */
  readonly objectStore: ObjectStore | null;
  /** Certificate authorities of the operator that the object store may have its certificate from, PEM. */
  readonly outbound: { readonly ca: string | null };
  readonly messaging: {
    /** In the addresses of accounts, lower case. */
    readonly serverName: string;
    /** The bridge to Matrix. With one of its two variables alone there is no messaging. */
    readonly bridge:
      | { readonly kind: 'none' }
      | { readonly kind: 'incomplete'; readonly missing: string }
      | { readonly kind: 'configured'; readonly url: string; readonly token: string };
    /** Where other servers reach the homeserver, `host:port`; `null` where core does not say it. */
    readonly federation: string | null;
    /** Where Matrix clients reach the homeserver; `null` where core does not say it. */
    readonly clientUrl: string | null;
  };
  readonly listenHost: string;
  readonly listenPort: number;
  readonly trustedProxies: readonly string[];
  readonly masterAccount: string | null;
  /** Who may register; `null` where Fleet says it. */
  readonly registration: 'open' | 'invite' | 'closed' | null;
  /** Of passkeys whose backup eligibility is another than at registration. */
  readonly passkeyBackupChanges: 'refused' | 'accepted';
  /** Who runs the platform and how to reach them, for everybody; `null` when not set. */
  readonly operatorContact: string | null;
  /** Who may publish: everybody, the master account alone, or the accounts of these names. */
  readonly publishers: 'everyone' | 'master' | readonly string[];
  /** Where push services reach the operator, `mailto:` or `https:`; `null` where no web push is offered. */
  readonly vapidSubject: string | null;
  /** Origins of push services that may lie on private addresses. */
  readonly pushPrivateOrigins: readonly string[];
  /** A cluster of OpenSearch that takes searches off PostgreSQL, or `null`. */
  readonly searchOpenSearch: {
    /** Without credentials and trailing slash. */
    readonly address: string;
    readonly auth: { readonly username: string; readonly password: string } | null;
  } | null;
  /** File with the AI providers, or `null` for none. */
  readonly intelligenceFile: string | null;
  /** The search engine for agents, or `null`. */
  readonly webSearchFile: string | null;
  /** Folder for package blobs: `<hash>.tgz`, and unpacked frontends. */
  readonly packagesDirectory: string;
  /** What accounts pay each other with. */
  readonly walletCurrency: { readonly code: string; readonly decimals: number };
  /** Folder with the built shell. */
  readonly shellDirectory: string;
}

/** `http` or `https` of the platform, and the port shown in addresses (with its colon, or empty). */
export function originParts(config: Pick<CoreConfig, 'origin'>): { scheme: 'http' | 'https'; port: string } {
  const url = new URL(config.origin);
  return { scheme: url.protocol === 'https:' ? 'https' : 'http', port: url.port === '' ? '' : `:${url.port}` };
}

/**
 * The name of the session cookie as browsers see it. On https it is prefixed: browsers then take such a cookie only from
 * the shell's own host, and no page of a sibling host can set one (RFC 6265bis, section 4.1.3.2).
 */
export function sessionCookieName(config: Pick<CoreConfig, 'origin' | 'sessionCookie'>): string {
  return originParts(config).scheme === 'https' ? `__Host-${config.sessionCookie}` : config.sessionCookie;
}

/** Exact origin of an installation's frontend: `<scheme>://<app-id>--<opaque>.<apps domain>` (contract 3). */
export function appOrigin(config: Pick<CoreConfig, 'origin' | 'appsDomain'>, appId: string, hostLabel: string): string {
  const { scheme, port } = originParts(config);
  return `${scheme}://${appId}--${hostLabel}.${config.appsDomain}${port}`;
}

/** No app has such a host: theirs hold `--` (contract 3). */
const SERVICES_LABEL = 'services';

/**
 * Where frontends of apps reach the platform's services: a host of its own, so that none can take the connections that a browser
 * has for the shell's.
 */
export function servicesOrigin(config: Pick<CoreConfig, 'origin' | 'appsDomain'>): string {
  const { scheme, port } = originParts(config);
  return `${scheme}://${SERVICES_LABEL}.${config.appsDomain}${port}`;
}

/**
 * Where clients outside the platform reach it: its own origin on https; on http a name that every client accepts without TLS, since the
 * official one takes a token endpoint without it at loopback names alone.
 */
export function connectOrigin(config: Pick<CoreConfig, 'origin'>): string {
  const { scheme, port } = originParts(config);
  return scheme === 'https' ? config.origin : `http://localhost${port}`;
}

/**
 * Where clients reach the endpoint side of a node behind NAT: `<node id>.<ingress domain>`, which no public name can be,
 * since a node id holds no `--`.
 */
export function endpointHostname(config: Pick<CoreConfig, 'ingressDomain'>, nodeId: string): string {
  return `${nodeId}.${config.ingressDomain}`;
}

/** The public hostname of an installation: `<app-id>--<opaque>.<ingress domain>` (specification 4.11). */
export function publicHostname(config: Pick<CoreConfig, 'ingressDomain'>, appId: string, label: string): string {
  return `${appId}--${label}.${config.ingressDomain}`;
}
