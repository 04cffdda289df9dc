// Makes an installed app an agent by the manifest of its version, whatever publishing takes.
import { strict as assert } from 'node:assert';
import type { Constellation } from '../../../tests/support/constellation.ts';

export async function declareAgent(
  { core }: Pick<Constellation, 'core'>,
  appId: string,
  agent: Readonly<Record<string, unknown>> = { webSearch: true },
  runtime = 'agent',
): Promise<void> {
  const { rowCount } = await core.context.pool.query(
    `UPDATE app_versions
        SET manifest = jsonb_set(jsonb_set(manifest, '{workload,runtime}', to_jsonb($3::text)), '{workload,agent}', $2::jsonb)
      WHERE app_id = $1`,
    [appId, JSON.stringify(agent), runtime],
  );
  assert.equal(rowCount, 1, `${appId} is published`);
}
