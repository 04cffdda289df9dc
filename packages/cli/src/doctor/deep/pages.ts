// Whether every page of the database can be read and holds what it should.
import { examinePages, type PageFault } from '@platform/core/examine';
import { withDatabase } from '../../local/instance.ts';
import type { Finding } from '../finding.ts';
import { counted, type DeepCheck, named } from './deep-check.ts';

const CHECK = 'pages';

export const pages: DeepCheck = {
  name: 'Reading the pages of the database',
  async look(config, show) {
    const { checksums, depth, relations, faults } = await withDatabase(config, (url) =>
      examinePages(url, (done, all) => show(`${done} of ${all} tables and indexes`)),
    );
    const found = `${counted(relations, 'table')} and indexes are whole`;
    return [
      ...named(faults.map(findingOf)),
      ...(faults.length === 0 && depth === 'all' ? [{ check: CHECK, verdict: 'good', found } as const] : []),
      ...(depth === 'rows' ? [rowsOnly(faults.length === 0)] : []),
      ...(checksums ? [] : [NO_CHECKSUMS]),
    ];
  },
};

const NO_CHECKSUMS: Finding = {
  check: CHECK,
  verdict: 'warning',
  found: 'PostgreSQL keeps no checksums of pages, so one that a disk altered may go unnoticed',
  cure: 'With the server stopped: pg_checksums --enable',
};

function rowsOnly(isWhole: boolean): Finding {
  return {
    check: CHECK,
    verdict: 'warning',
    found: `${isWhole ? 'every row was read; ' : ''}indexes and pages on the disk were not checked: this user of PostgreSQL may not`,
    cure: 'Check them as its superuser, with pg_amcheck.',
  };
}

function findingOf({ relation, isIndex, found }: PageFault): Finding {
  const cure = isIndex
    ? `Rebuild it: REINDEX INDEX ${relation.replace(/^index /, '')}. Then look for what damages the disk.`
    : 'Stop the platform, copy its folder as it is, and restore the database from a backup. Then look for what damages the disk.';
  return { check: CHECK, verdict: 'bad', found: `${relation}: ${found}`, cure };
}
