// What a start says once the platform runs. A terminal shows the end of what was printed, so the address stands there.
import type { PlatformConfig } from '@platform/core/config';
import { diskNotice } from '../disk/disk-notice.ts';
import { type Release, releaseText } from '../local/release.ts';
import { paint } from '../terminal/terminal.ts';
import { plannedListeners } from './listeners.ts';
import type { Part, StartingPlatform } from './part.ts';

export interface Greeting {
  readonly config: PlatformConfig;
  readonly release: Release;
  readonly dataDirectory: string;
  /** Those of the platform, each of which says its own lines. */
  readonly parts: readonly Part[];
  readonly reportOf: StartingPlatform['reportOf'];
  /** What the start took. */
  readonly milliseconds: number;
  /** All settings, and what parts say in detail. */
  readonly verbose: boolean;
  /** Where the log is, if not here. */
  readonly logFile: string | undefined;
  /** Columns of the terminal; `undefined` for anything else. */
  readonly columns: number | undefined;
}

export function greeting({ config, dataDirectory, parts, reportOf, verbose, ...more }: Greeting): string {
  const said = parts.map((part) => part.greeting?.({ config, report: reportOf(part) }) ?? {});
  const notices = [
    ...config.notices,
    ...said.flatMap((one) => one.notices ?? []),
    ...[diskNotice(dataDirectory) ?? []].flat(),
  ];
  const facts = said.flatMap((one) => one.facts ?? []).filter(({ isDetail }) => verbose || isDetail !== true);
  return [
    '',
    ...settings(config, verbose),
    ...notices.map((notice) => `  ${paint('yellow', '!')} ${notice}`),
    ...said.flatMap((one) => one.warnings ?? []).map((line) => `  ${paint('red', line)}`),
    ...facts.map(({ label, value, isDetail }) =>
      isDetail === true ? paint('dim', entry(label, value)) : entry(label, value),
    ),
    ...listening(config, parts).map((line, index) => entry(index === 0 ? 'Listens on' : '', line)),
    ...said.flatMap((one) => one.addresses ?? []).map(({ label, value }) => entry(label, value)),
    entry('Release', releaseText(more.release)),
    entry('Data folder', dataDirectory),
    ...(more.logFile === undefined ? [] : [entry('Log', more.logFile)]),
    '',
    `  ${paint('bold', 'The platform is running.')} ${paint('dim', `Ready in ${(more.milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it.`)}`,
    '',
    ...framed('Open', config.origin, more.columns),
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
function listening(config: PlatformConfig, parts: readonly Part[]): string[] {
  const listeners = plannedListeners(config, parts);
  const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));
  if (listeners.every(({ origin, port }) => origin === undefined || portOf(new URL(origin)) === port)) return [];
  return listeners.map(({ host, port, what }) => {
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    return `${place.padEnd(16)} ${paint('dim', what)}`;
  });
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
