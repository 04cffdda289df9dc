// The tables of the documentation as the code has them. A test proves that the files say the same.
import { configurationVariables } from './configuration.ts';
import { confirmedBy, type RouteSpec } from './domain.ts';
import { coreMetrics, errors, limits, routes } from './domains.ts';
import { bridgeMetrics, ingressMetrics, nodeMetrics, partMetrics } from './metrics.ts';
import { criticalResources, isPermissionId, type PermissionId, permissions, requiredRole } from './permissions.ts';
import { backendPowers, powers, ratingScale } from './security-rating.ts';

const BEGIN = '<!-- table: made from the code by `npm run docs` -->';
const END = '<!-- end of table -->';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Every table in `docs/` that is made from the code, with its file below `docs/`. */
export function documentedTables(): { file: string; table: string }[] {
  return [
    {
      file: 'errors.md',
      table: table(
        ['status', 'code', 'title', 'when, and what to do'],
        Object.entries(errors)
          .sort(([a, one], [b, other]) => one.status - other.status || (a < b ? -1 : 1))
          .map(([code, { status, title, help }]) => [String(status), `\`${code}\``, title, help]),
      ),
    },
    {
      file: 'limits.md',
      table: table(
        ['limit', 'value', 'unit', 'name in the code'],
        Object.entries(limits).map(([name, { value, unit, meaning }]) => [
          meaning,
          value.toLocaleString('en'),
          unit,
          `\`${name}\``,
        ]),
      ),
    },
    {
      file: 'permissions.md',
      table: table(
        ['permission', 'an app with it can …', 'resources', 'critical', 'only for'],
        Object.keys(permissions)
          .filter(isPermissionId)
          .map((id) => [
            `\`${id}\``,
            permissions[id].plain,
            permissions[id].resources,
            criticalWords(id),
            requiredRole(id) === undefined ? '' : `the system role \`${requiredRole(id)}\``,
          ]),
      ),
    },
    { file: 'security-rating.md', table: ratingTables() },
    {
      file: 'configuration.md',
      table: table(
        ['variable', 'default', 'meaning'],
        Object.entries(configurationVariables).map(([name, entry]) => [
          `\`${name}\``,
          entry.default === '' ? '' : `\`${entry.default}\``,
          'secret' in entry ? `${entry.meaning} Secret: never printed.` : entry.meaning,
        ]),
      ),
    },
    {
      file: 'security/confirmations.md',
      table: table(
        ['what a session changes', 'confirmed as', 'why a session alone is enough'],
        Object.entries<RouteSpec>(routes).flatMap(([id, { method, path, confirms }]) => {
          if (confirms === undefined) return [];
          const operation = confirmedBy({ confirms })
            .map((one) => `\`${one}\``)
            .join(' or ');
          const why = typeof confirms === 'object' && 'nothing' in confirms ? confirms.nothing : '';
          return [[`\`${method} ${path}\` (\`${id}\`)`, operation, why]];
        }),
      ),
    },
    {
      file: 'operators.md',
      table: table(
        ['metric', 'kind', 'labels', 'meaning'],
        Object.entries({ ...partMetrics, ...nodeMetrics, ...ingressMetrics, ...bridgeMetrics, ...coreMetrics }).map(
          ([name, { type, labels, meaning }]) => [
            `\`${name}\``,
            type,
            labels.map((label) => `\`${label}\``).join(', '),
            meaning,
          ],
        ),
      ),
    },
  ];
}

/** The scale, and what each permission means for it. */
function ratingTables(): string {
  const scale = ([5, 4, 3, 2, 1] as const).map((rating) => {
    const { label, worst } = ratingScale[rating];
    return [`**${rating}**`, label, worst];
  });
  const rows = Object.keys(permissions)
    .filter(isPermissionId)
    .toSorted((one, other) => powers[other].rating - powers[one].rating)
    .map((id) => [`\`${id}\``, permissions[id].plain, bestRating(id), ...pairSides(id)]);
  const backends = Object.entries(backendPowers).map(([what, { rating, text }]) => [
    what === 'agent' ? '`runtime: "agent"`' : '`mode: "always"`',
    text,
    String(rating),
    '',
    '',
  ]);
  return [
    table(['rating', 'in a word', 'at worst'], scale),
    table(['what an app has', 'it can …', 'at best', 'first of a pair', 'second of a pair'], [...rows, ...backends]),
  ].join('\n\n');
}

function bestRating(id: PermissionId): string {
  const { rating, wide } = powers[id];
  return wide === undefined ? String(rating) : `${rating}; ${wide.rating} without a bound`;
}

/** Of which pairs it can be a side. */
function pairSides(id: PermissionId): [string, string] {
  const { reads, acts, carries, opens } = powers[id];
  const words = (...all: (string | false | undefined)[]) => all.filter(Boolean).join(', ');
  return [words(reads && 'reads', acts && 'acts'), words(carries && 'leads out', opens && 'lets strangers in')];
}

function criticalWords(id: PermissionId): string {
  const critical = criticalResources(id);
  if (critical === 'all') return 'yes';
  return critical.length === 0 ? '' : `on ${critical.map((resource) => `\`${resource}\``).join(', ')}`;
}

/** The table in a documentation file. @throws Error when its markers are missing */
export function tableIn(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the table markers ${BEGIN} and ${END} are missing`);
  return text.slice(begin + BEGIN.length, end).trim();
}

/** The text of a document with `content` between the marks of its table. @throws Error for a document without marks */
export function replaceTable(text: string, content: string): string {
  return text.replace(tableIn(text) === '' ? `${BEGIN}\n` : tableIn(text), () =>
    tableIn(text) === '' ? `${BEGIN}\n\n${content}\n\n` : content,
  );
}
