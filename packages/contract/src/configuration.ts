// Every configuration variable of the platform: name, default, meaning (contract 6).
// docs/configuration.md is proven equal to this table by a test; core's config/ reads and checks the values.

interface VariableEntry {
  /** As a person reads it; empty when unset means off. */
  readonly default: string;
  readonly meaning: string;
  /** Masked wherever the effective configuration is printed. */
  readonly secret?: true;
}

export const configurationVariables = {
  PLATFORM_OS_ORIGIN: {
    default: 'http://shell.platform.localhost:8787',
    meaning: 'Origin of the shell and its API, as browsers see it. Changing it is a credential migration.',
  },
  PLATFORM_RP_ID: {
    default: "the origin's host",
    meaning: 'WebAuthn relying-party ID. Changing it is a credential migration.',
  },
  PLATFORM_RP_NAME: { default: 'Platform', meaning: 'Name the browser shows when it creates a passkey.' },
  PLATFORM_PRF_LEGACY_SALT: {
    default: '',
    meaning: 'Older PRF salt, base64url of 32 bytes, so that old bundles can be rewrapped in the browser at sign-in.',
  },
  PLATFORM_SESSION_TTL_MS: { default: '2592000000', meaning: 'Lifetime of a session in milliseconds.' },
  PLATFORM_CHALLENGE_TTL_MS: { default: '300000', meaning: 'Lifetime of a passkey challenge in milliseconds.' },
  PLATFORM_SESSION_COOKIE: {
    default: 'platform_session',
    meaning: 'Name of the session cookie. On https core puts `__Host-` before it.',
  },
  PLATFORM_APPS_DOMAIN: {
    default: 'apps.platform.localhost',
    meaning:
      "Domain below which every app gets its own host. Never below the shell's host; on https a domain registered separately from the shell's (by the public suffix list, private suffixes included), else the start is refused.",
  },
  PLATFORM_INGRESS_DOMAIN: {
    default: 'public.platform.localhost',
    meaning:
      "Domain below which every app that serves the internet gets a host. Neither above nor below the shell's host or PLATFORM_APPS_DOMAIN, and never below PLATFORM_RP_ID; on https of another site than the shell's (by the public suffix list), best registered for this alone. Changing it changes the internet address of every app.",
  },
  PLATFORM_INGRESS_LISTEN: {
    default: '127.0.0.1:8791',
    meaning:
      'Address and port on which the Ingress of this machine answers requests from the internet. Set and empty: this machine has no Ingress.',
  },
  PLATFORM_INGRESS_PUBLIC_PORT: {
    default: 'the port of PLATFORM_INGRESS_LISTEN; 443 if a proxy ends TLS in front of it',
    meaning:
      'Port in the internet addresses of apps. Set it if a proxy or a firewall passes on the requests of another port, on the machine of core and on each Ingress.',
  },
  PLATFORM_INGRESS_TLS: {
    default: '',
    meaning:
      'Certificates of the Ingress: empty for none (plain HTTP, on a laptop or behind a proxy that ends TLS), `files:<folder>` for `<host>.crt` and `<host>.key` there (`_.example.org.crt` for the wildcard `*.example.org`), or `acme`. docs/operations/public.md, “Certificates”, describes both.',
  },
  PLATFORM_INGRESS_HTTP_LISTEN: {
    default: '',
    meaning:
      'Address and port on which an Ingress with certificates also answers plain HTTP, e.g. `0.0.0.0:80`: the challenges of a certificate authority, and redirects to https for everything else. Empty: nowhere.',
  },
  PLATFORM_ACME_DIRECTORY: {
    default: '',
    meaning:
      'Directory of the certificate authority for PLATFORM_INGRESS_TLS=acme, e.g. `https://acme-v02.api.letsencrypt.org/directory`. Setting it accepts its terms of service.',
  },
  PLATFORM_ACME_EMAIL: {
    default: '',
    meaning: 'Mail address that the certificate authority may write to. Empty: none.',
  },
  PLATFORM_ACME_DNS_HOOK: {
    default: '',
    meaning:
      'Executable that adds and removes DNS records: the Ingress then orders one wildcard certificate for PLATFORM_INGRESS_DOMAIN. Empty: one certificate for each app, which needs PLATFORM_INGRESS_HTTP_LISTEN on port 80.',
  },
  PLATFORM_INGRESS_LINK: {
    default: '',
    meaning:
      'Address and port at which nodes behind NAT connect to this Ingress over UDP, with PLATFORM_LINK_CARRIER=iroh. Empty: they can only through PLATFORM_IROH_RELAY.',
  },
  PLATFORM_INGRESS_RATE: {
    default: '10',
    meaning:
      'Requests from the internet per second, in the long run, that one client network (an IPv4 address, or a /64 of IPv6) may send to one app.',
  },
  PLATFORM_INGRESS_BURST: { default: '50', meaning: 'How many of them may come at once.' },
  PLATFORM_INGRESS_CONCURRENCY: {
    default: '200',
    meaning:
      'Requests and WebSockets from the internet that one app may have open at a time on this Ingress. One client network may have a quarter of them, or 8; the loopback interface, where a proxy may stand, all of them.',
  },
  PLATFORM_INGRESS_BODY_MIB: { default: '10', meaning: 'Largest body of a request from the internet, in MiB.' },
  PLATFORM_INGRESS_HEADER_KIB: {
    default: '32',
    meaning: 'Largest head of a request from the internet, in KiB, 4 to 64.',
  },
  PLATFORM_INGRESS_LOG: {
    default: 'stdout',
    meaning:
      'Access log of the Ingress, a line of JSON for each request without its query: `stdout` (on a terminal, the file of the log), `off`, or an absolute path of a file to append to.',
  },
  PLATFORM_NODE_ORIGIN: {
    default: 'http://node.platform.localhost:8788',
    meaning:
      'Origin at which browsers and native clients reach the backends on this node. If it is not set on a node with PLATFORM_LINK_CARRIER=iroh, they reach them through Ingresses.',
  },
  PLATFORM_LISTEN_HOST: {
    default: '127.0.0.1',
    meaning:
      'Address on which the platform listens for the shell, its API, the apps and their backends. Outside a laptop, put a reverse proxy that terminates TLS in front.',
  },
  PLATFORM_LISTEN_PORT: {
    default: 'the port in PLATFORM_OS_ORIGIN; 8787 if that is https without a port',
    meaning:
      'Port on which the platform listens for the shell, its API and the frontends of apps. Set it if a proxy in front has the port of PLATFORM_OS_ORIGIN.',
  },
  PLATFORM_NODE_LISTEN_PORT: {
    default: 'the port in PLATFORM_NODE_ORIGIN; 8788 if that is https without a port',
    meaning:
      'Port on which this node listens for the backends of apps. Set it if a proxy in front has the port of PLATFORM_NODE_ORIGIN.',
  },
  PLATFORM_TRUSTED_PROXIES: {
    default: '',
    meaning:
      'Comma-separated addresses or CIDR blocks of reverse proxies. Core and the Ingress trust their X-Forwarded-For for the address of a client, the Ingress their X-Forwarded-Proto as well.',
  },
  PLATFORM_LOCAL_NODE: {
    default: 'true',
    meaning: '`false` runs core without a Runtime on this machine: backends run only on nodes that have joined.',
  },
  PLATFORM_LINK_LISTEN: {
    default: '',
    meaning:
      "Address and port on which core accepts nodes on other machines, over TLS with core's own key, e.g. `10.0.0.1:8789`. Empty: nodes connect through PLATFORM_OS_ORIGIN, which must then be https.",
  },
  PLATFORM_LINK_CARRIER: {
    default: 'tls',
    meaning:
      '`iroh` for nodes behind NAT: on the machine of core, it also accepts their connections over UDP at the port of PLATFORM_LINK_LISTEN; on such a node, core reaches it over the connection that the node keeps to core. `tls`: over TCP alone.',
  },
  PLATFORM_IROH_RELAY: {
    default: '',
    meaning:
      'URL of an iroh relay, for nodes and cores between which no UDP packet passes directly. The same on both. Empty: none; no public relay is ever used.',
  },
  PLATFORM_NODE_CONTROL: {
    default: '',
    meaning:
      'Address and port on which core reaches this node from other machines. Empty: on a joined node, the address it used to reach core, port 8790; on the machine of core, none.',
  },
  PLATFORM_NODE_PUBLIC: {
    default: '',
    meaning:
      'Address and port on which Ingresses on other machines reach the public side of this node, over TLS under its key. Empty: on a joined node, the address of PLATFORM_NODE_CONTROL, port 8792; on the machine of core, a free port of the loopback interface, for an Ingress of that machine alone.',
  },
  PLATFORM_NODE_MEMORY_MIB: {
    default: "80 % of the machine's memory",
    meaning: 'Memory in MiB that all workloads of this node may use together.',
  },
  PLATFORM_NODE_LOST_SECONDS: {
    default: '60',
    meaning:
      'Seconds without a heartbeat after which core considers a node lost and reschedules its movable workloads. The node stops them 15 s earlier.',
  },
  PLATFORM_VOLUMES_SHARED: {
    default: '',
    meaning:
      'Folder for volumes shared between nodes (NFS, CephFS), mounted on each of them. Workloads with a volume there can move.',
  },
  PLATFORM_DATABASE_URL: {
    default: '',
    meaning:
      'PostgreSQL to use (`postgres://…`). Of several servers, `postgres://user:password@one:5432,two:5432/name`, the one that takes writes is used. Empty starts the embedded one.',
    secret: true,
  },
  PLATFORM_DATA_DIR: {
    default: '/var/lib/platform as root, else ~/.local/share/platform',
    meaning: 'Folder for the embedded database, packages, volumes and the master key.',
  },
  PLATFORM_MASTER_KEY_FILE: {
    default: 'master.key in the data folder',
    meaning: 'File with the 32-byte master key, base64url. Created at first start; back it up.',
  },
  PLATFORM_MASTER_ACCOUNT: {
    default: '',
    meaning:
      'Account that sees the whole platform in the Fleet app; without it, the one that `./platform account operator` names. Register it first: account names are first come, first served.',
  },
  PLATFORM_PASSKEY_BACKUP_CHANGES: {
    default: 'refused',
    meaning:
      'Whether a passkey still signs in when it says that it can be backed up and could not before, or the reverse, as after a move to another password manager: `refused` or `accepted`.',
  },
  PLATFORM_REGISTRATION: {
    default: 'open',
    meaning:
      'Who may register an account: `open` for everyone, `invite` for people with an invitation (`./platform account invite`), `closed` for no one. Not set: what Fleet says, and `open` where it says nothing.',
  },
  PLATFORM_OPERATOR_CONTACT: {
    default: '',
    meaning:
      'Who runs the platform and how to reach them, in at most 120 characters, e.g. `Ada, ada@example.com`. Everybody who opens the sign-in page can read it: under “Lost your passkey?”.',
  },
  PLATFORM_PUBLISHERS: {
    default: 'everyone',
    meaning:
      'Who may publish apps, `./platform dev` included: `everyone`, `master` for the master account alone, or the names of accounts, separated by commas. Published apps stay. On the server itself the operator publishes for any account.',
  },
  PLATFORM_ACCOUNT_DISK_MIB: {
    default: '20480',
    meaning:
      'Disk space in MiB that one account may take: its volumes at their declared size, and the packages it published.',
  },
  PLATFORM_ACCOUNT_MEMORY_PERCENT: {
    default: '50',
    meaning:
      'Share in percent of the memory of each node that backends of one account which never sleep may reserve. The master account may reserve all of it.',
  },
  PLATFORM_ACCOUNT_UDP_PORTS: {
    default: '32',
    meaning: 'Public UDP ports that the apps of one account may have at a time.',
  },
  PLATFORM_DEFAULT_PLAN: {
    default: 'free',
    meaning:
      '`free` or `paid`: the plan of accounts for which `./platform account plan` set none. Raw object storage needs `paid`. Not set: what Fleet says, and `free` where it says nothing.',
  },
  PLATFORM_OBJECT_STORE_ENDPOINT: {
    default: '',
    meaning:
      'Origin of an S3 store for the objects of apps, and for large items and files, e.g. `https://s3.eu-central-1.example.com`; http on loopback only. Empty: apps get no object storage, and items and files lie in PostgreSQL.',
  },
  PLATFORM_OBJECT_STORE_REGION: { default: 'us-east-1', meaning: 'Region that requests to the store are signed for.' },
  PLATFORM_OBJECT_STORE_BUCKET: {
    default: '',
    meaning:
      'Bucket that the platform has for itself. Objects of an installation lie below `installations/<installation id>/`.',
  },
  PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: {
    default: '',
    meaning:
      'File, readable for its owner only, with the access key: `{ "accessKeyId", "secretAccessKey", "sessionToken"? }`. Read at the start.',
  },
  PLATFORM_OBJECT_STORE_PATH_STYLE: {
    default: 'true',
    meaning: '`true`: the bucket stands in the path. `false`: before the host, as newer stores want it.',
  },
  PLATFORM_RATE_LIMITS: {
    default: '',
    meaning:
      'Overrides of the rates in docs/limits.md, for each kind `name=per minute` or `name=per minute/burst`, comma-separated, e.g. `authentication=60,notification=120/240`. Kinds: authentication, passkey, exchange, join, authorRequest, authorCode, connectionRequest, connectionToken, clientRegistration, session, notification, searchWrite, workflow, makeApp, webSearch, webSearchDay, messagingSend, messagingDirect, tool, service, objectStorage.',
  },
  PLATFORM_NOTIFICATION_DAYS: { default: '90', meaning: 'Days after which a notification is removed.' },
  PLATFORM_NOTIFICATIONS_KEPT: {
    default: '10000',
    meaning:
      'Notifications kept for an account, 1 to 1,000,000; beyond that, the oldest of the apps with the most are removed.',
  },
  PLATFORM_RUNTIME_DRIVER: {
    default: 'auto',
    meaning:
      'How workloads run on this machine: `process`, `docker`, `microvm`, or `auto` for the strongest that works here. `./platform doctor` shows which and why.',
  },
  PLATFORM_RUNTIME_DOCKER_SOCKET: {
    default: '/var/run/docker.sock',
    meaning: 'Unix socket of the container engine (dockerd) that the driver `docker` uses.',
  },
  PLATFORM_RUNTIME_IMAGE_REGISTRIES: {
    default: '',
    meaning:
      'Comma-separated registries from which app images may be pulled, each as `registry.example`, optionally with a port or a path prefix. Empty: images come only in packages.',
  },
  PLATFORM_MICROVM_MONITOR: {
    default: 'qemu where it is installed, else firecracker',
    meaning: '`qemu` or `firecracker`: what runs the virtual machines of the driver `microvm`.',
  },
  PLATFORM_MICROVM_KERNEL: {
    default: "Debian's newest cloud kernel in /boot",
    meaning:
      'Kernel of the guests: a compressed one (bzImage) for QEMU, an uncompressed one (ELF) for Firecracker. docs/decisions/microvm-driver.md says where to get one.',
  },
  PLATFORM_MICROVM_MODULES: {
    default: 'lib/modules/<version> beside the folder of the kernel',
    meaning: "The kernel's modules. Not needed for a kernel with virtio and erofs built in.",
  },
  PLATFORM_MICROVM_FIRECRACKER: {
    default: 'firecracker in the folders of the system',
    meaning: 'Firecracker binary, statically linked as in its releases.',
  },
  PLATFORM_RUNTIME_ALLOW_UNSANDBOXED: {
    default: 'false',
    meaning:
      '`true` runs workloads without a sandbox where the machine forbids namespaces. Never with apps you did not write.',
  },
  PLATFORM_PUBLIC_HOST: {
    default: '127.0.0.1',
    meaning:
      'Host name or address under which clients reach public UDP ports of apps on this machine. If it is a loopback name, ports bind to loopback only, otherwise to every IPv4 address.',
  },
  PLATFORM_UDP_PORT_RANGE: {
    default: '',
    meaning: 'UDP ports of this machine that apps may be given, e.g. `40000-40999`. Empty: none.',
  },
  PLATFORM_WORKLOAD_DNS: {
    default: '9.9.9.9,1.1.1.1',
    meaning:
      'Comma-separated DNS servers, publicly routable IPv4 addresses, for backends that may reach the internet. Other backends have no DNS.',
  },
  PLATFORM_VAPID_SUBJECT: {
    default: 'PLATFORM_OS_ORIGIN where that is https on a public host, else none',
    meaning: 'Operator contact for push services (RFC 8292): a `mailto:` or `https:` URL. Without it, web push is off.',
  },
  PLATFORM_WEB_PUSH_PRIVATE_ORIGINS: {
    default: '',
    meaning:
      'Comma-separated https origins of your own push services that may have private addresses, e.g. `https://push.example.lan:8443`. All others must be publicly routable and on port 443.',
  },
  PLATFORM_OUTBOUND_PRIVATE_ORIGINS: {
    default: '',
    meaning:
      'Comma-separated https origins of your own services that secret slots of apps may reach on private addresses, e.g. `https://git.example.lan:8443`; exact. All others must be publicly routable. Set it on every machine that runs backends.',
  },
  PLATFORM_OUTBOUND_CA_FILE: {
    default: '',
    meaning:
      'File of certificate authorities (PEM) that outbound calls with a secret, AI calls, object storage and PLATFORM_ACME_DIRECTORY trust besides the usual ones, such as the one of your own network. Set it on every machine that runs backends, and on that of core.',
  },
  PLATFORM_SEARCH_OPENSEARCH_URL: {
    default: '',
    meaning:
      'OpenSearch cluster that answers searches instead of PostgreSQL, e.g. `https://user:password@opensearch.example:9200`; http on loopback only. Empty: PostgreSQL searches.',
    secret: true,
  },
  PLATFORM_INTELLIGENCE_FILE: {
    default: '',
    meaning:
      'JSON file with the AI providers that apps may use, their keys’ files, and the limits of each app; docs/operators.md has an example. Read again on SIGHUP. Fleet adds to it, and says what it leaves open. Empty: no file.',
  },
  PLATFORM_WEB_SEARCH_FILE: {
    default: '',
    meaning:
      'JSON file with the search engine through which agents search the web, each time after their person allowed it; docs/operators.md has an example. Read again on SIGHUP. Empty: nobody searches the web.',
  },
  PLATFORM_WALLET_CURRENCY: {
    default: 'CREDIT:2',
    meaning:
      'What accounts pay each other with: the code of the currency and its decimals. Balances in a former currency stay in it.',
  },
  PLATFORM_MESSAGING_SERVER_NAME: {
    default: '',
    meaning:
      'What the addresses of accounts end in (`<name>@<server name>`); it cannot be changed once the first address was given, because others know accounts by it. Empty: the host of PLATFORM_OS_ORIGIN.',
  },
  PLATFORM_MESSAGING_BRIDGE_URL: {
    default: '',
    meaning:
      'Messaging bridge to Matrix, e.g. `https://bridge.example.net`; http on loopback only. Needs PLATFORM_MESSAGING_BRIDGE_TOKEN. Empty: accounts of this platform write to each other.',
  },
  PLATFORM_MESSAGING_BRIDGE_TOKEN: {
    default: '',
    meaning: 'What core proves itself with to the messaging bridge; 32 to 1,024 visible ASCII characters.',
    secret: true,
  },
  PLATFORM_MESSAGING_HOMESERVER_URL: {
    default: '',
    meaning:
      'Where the messaging bridge reaches its homeserver, e.g. `http://127.0.0.1:8008`; http on loopback only. Where it is set, the platform starts the bridge on this machine. Empty: no bridge is started.',
  },
  PLATFORM_MESSAGING_REGISTRATION_FILE: {
    default: 'messaging/registration.yaml in the data folder',
    meaning:
      'Registration of the messaging bridge at its homeserver, which `./platform messaging init` writes and both read.',
  },
  PLATFORM_MESSAGING_BRIDGE_LISTEN: {
    default: '127.0.0.1:8390',
    meaning: 'Address and port of the messaging bridge, where core and the homeserver reach it.',
  },
  PLATFORM_MESSAGING_STORE_DIR: {
    default: 'messaging in the data folder',
    meaning:
      'Folder in which the messaging bridge keeps the keys of accounts. Never restore it from a backup: docs/operators.md, “Messages to other servers”.',
  },
  PLATFORM_MESSAGING_FEDERATION: {
    default: '',
    meaning:
      'Host and port at which other servers reach the homeserver, e.g. `matrix.example.com:8448`; core publishes it at `/.well-known/matrix/server` of PLATFORM_MESSAGING_SERVER_NAME. Empty: core publishes nothing.',
  },
  PLATFORM_MESSAGING_CLIENT_URL: {
    default: '',
    meaning:
      'Address at which Matrix clients of people reach the homeserver, e.g. `https://matrix.example.com`; core publishes it at `/.well-known/matrix/client` of PLATFORM_MESSAGING_SERVER_NAME. Empty: core publishes nothing.',
  },
  PLATFORM_METRICS_LISTEN: {
    default: '',
    meaning:
      'Address and port for Prometheus, e.g. `127.0.0.1:9090`; loopback only, because it has no authentication. Empty: off.',
  },
  PLATFORM_LOG_LEVEL: { default: 'info', meaning: '`fatal`, `error`, `warn`, `info`, `debug` or `trace`.' },
} as const satisfies Record<string, VariableEntry>;

export type ConfigurationVariable = keyof typeof configurationVariables;
