// What `platform doctor` says of AI: the providers that the operator offers, or a model server of this machine that could be one.
import { plainLine } from '@platform/contract';
import { findModelServers, MODEL_PLACES, type PlatformConfig, readIntelligenceFile } from '@platform/core/config';
import { openDatabase, requireMigrated, selectStored } from '@platform/core/database';
import { withDatabase } from '../local/instance.ts';
import type { Finding } from './finding.ts';
import { isBeforeFirstStart } from './first-start-findings.ts';

export async function modelFindings(config: PlatformConfig): Promise<Finding[]> {
  const [ofFile, ofFleet] = [providersOfFile(config), await providersOfFleet(config)];
  if (typeof ofFile === 'string') return [{ check: 'AI', verdict: 'bad', found: ofFile }];
  const names = [...(ofFile ?? []), ...ofFleet];
  if (ofFile !== null || names.length > 0)
    return [{ check: 'AI', verdict: 'good', found: names.length === 0 ? 'no providers' : names.join(', ') }];
  const found = await findModelServers(MODEL_PLACES, [String(config.listenPort), String(config.nodePort)]);
  return found.map(({ baseUrl, models }) => ({
    check: 'AI',
    verdict: 'warning',
    found: `a model server answers at ${baseUrl} (${firstOf(models)}), and apps may not use any`,
    cure: 'Offer it to apps in Fleet → Settings, or with PLATFORM_INTELLIGENCE_FILE: docs/operators.md, “AI providers”.',
  }));
}

function firstOf(models: readonly string[]): string {
  return plainLine(models.slice(0, 3).join(', ').slice(0, 120)) || 'no models';
}

/** `null` without a file, what is wrong with it as a text. */
function providersOfFile({ intelligenceFile }: PlatformConfig): readonly string[] | string | null {
  if (intelligenceFile === null) return null;
  try {
    return readIntelligenceFile(intelligenceFile).providers.map(({ name }) => name);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** None where the database does not answer or was never started, which another finding says. */
async function providersOfFleet(config: PlatformConfig): Promise<readonly string[]> {
  if (isBeforeFirstStart(config)) return [];
  try {
    return await withDatabase(config, async (url) => {
      await requireMigrated(url);
      const { database, close } = openDatabase({ url, connections: 1, onError: () => undefined });
      try {
        return (await selectStored(database)).providers.map(({ id, details: { name = id } }) => name);
      } finally {
        await close();
      }
    });
  } catch {
    return [];
  }
}
