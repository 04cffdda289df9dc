// What a start says once the platform runs. A terminal shows the end of what was printed, so the address stands there.
import type { PlatformConfig } from '@platform/core/config';
import { diskNotice } from '../disk-notice.ts';
import { plannedListeners } from '../listeners.ts';
import { paint } from '../terminal.ts';

export interface Greeting {
  readonly config: PlatformConfig;
  readonly dataDirectory: string;
  /** What the operator should know of the accounts. */
  readonly notices: readonly string[];
  /** How workloads are confined, and why so; `null` where none run on this machine. */
  readonly node: { readonly sandbox: string; readonly because: readonly string[] } | null;
  /** Whether an app has an address on the internet. */
  readonly hasPublicNames: boolean;
  /** What the start took. */
  readonly milliseconds: number;
  /** All settings, and why workloads are confined as they are. */
  readonly verbose: boolean;
  /** Where the log is, if not here. */
  readonly logFile: string | undefined;
  /** Columns of the terminal; `undefined` for anything else. */
  readonly columns: number | undefined;
}

export function greeting(facts: Greeting): string {
  const { config, dataDirectory, node, verbose } = facts;
  const warning = [
    'WARNING: PLATFORM_RUNTIME_ALLOW_UNSANDBOXED=true. Where no sandbox can be made, apps run with',
    'your rights on this machine. Use it only with apps you wrote yourself.',
  ];
  const notices = [...config.notices, ...facts.notices, ...[diskNotice(dataDirectory) ?? []].flat()];
  return [
    '',
    ...settings(config, verbose),
    ...notices.map((notice) => `  ${paint('yellow', '!')} ${notice}`),
    ...(config.allowUnsandboxed ? warning.map((line) => `  ${paint('red', line)}`) : []),
    entry('Workloads', node?.sandbox ?? 'none here (PLATFORM_LOCAL_NODE=false): they run on the nodes that join'),
    ...(verbose ? (node?.because ?? []) : []).map((line) => paint('dim', entry('', line))),
    ...listening(config).map((line, index) => entry(index === 0 ? 'Listens on' : '', line)),
    // Most platforms have no such app, and need not read of it.
    ...(facts.hasPublicNames ? [entry('Internet', publicAddresses(config))] : []),
    entry('Data folder', dataDirectory),
    ...(facts.logFile === undefined ? [] : [entry('Log', facts.logFile)]),
    '',
    `  ${paint('bold', 'The platform is running.')} ${paint('dim', `Ready in ${(facts.milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it.`)}`,
    '',
    ...framed('Open', config.origin, facts.columns),
    '',
  ].join('\n');
}

function entry(label: string, value: string): string {
  return `  ${label.padEnd(13)}${value}`;
}

function settings({ effective }: PlatformConfig, verbose: boolean): string[] {
  const shown = verbose ? effective : effective.filter(({ differs }) => differs);
  return shown.map(({ name, value, set }, index) =>
    paint('dim', entry(index === 0 ? 'Settings' : '', `${name}=${value}${set ? '' : '  (default)'}`)),
  );
}

/** Only where a proxy is in front: elsewhere the address says it. */
function listening(config: PlatformConfig): string[] {
  const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));
  const isBehindProxy =
    portOf(new URL(config.origin)) !== config.listenPort ||
    (config.localNode && portOf(new URL(config.nodeOrigin)) !== config.nodePort);
  if (!isBehindProxy) return [];
  return plannedListeners(config).map(({ host, port, what }) => {
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    return `${place.padEnd(16)} ${paint('dim', what)}`;
  });
}

function publicAddresses({ ingressOrigin: { scheme, port }, ingressDomain }: PlatformConfig): string {
  return `${scheme}://*.${ingressDomain}${port}`;
}

/** In a frame where there is a terminal that is wide enough for it. */
function framed(word: string, address: string, columns: number | undefined): string[] {
  const width = word.length + address.length + 8;
  if (columns === undefined || columns < width + 4) return [`  ${word}  ${paint('cyan', address)}`];
  const line = '━'.repeat(width);
  const edge = (text: string) => paint('cyan', text);
  const blank = `  ${edge('┃')}${' '.repeat(width)}${edge('┃')}`;
  return [
    `  ${edge(`┏${line}┓`)}`,
    blank,
    `  ${edge('┃')}   ${word}  ${paint('bold', address)}   ${edge('┃')}`,
    blank,
    `  ${edge(`┗${line}┛`)}`,
  ];
}
