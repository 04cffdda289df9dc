// What an earlier Runtime left running: each goes to the installation that it belongs to, and the rest is ended.
import type { Log } from '../clock.ts';
import type { Driver, Survivor } from '../drivers/driver.ts';

export interface Survivors {
  /** The survivor of an installation, which is the caller's from now on. */
  take(installationId: string): Survivor | undefined;
  /** Installations whose survivors are not adopted yet. */
  left(): Iterable<string>;
  /** Ends survivors that were not adopted. Called when core's assignments have been applied, and at the end. */
  endRest(): Promise<void>;
}

export async function findSurvivors(driver: Driver, log: Log): Promise<Survivors> {
  const left = new Map((await driver.list()).map((survivor) => [survivor.installationId, survivor]));
  const take = (installationId: string) => {
    const survivor = left.get(installationId);
    left.delete(installationId);
    return survivor;
  };
  return {
    take,
    left: () => left.keys(),
    async endRest() {
      const rest = [...left.values()];
      left.clear();
      const endings = rest.map((survivor) =>
        driver.destroy(survivor).catch((error: unknown) => {
          const { installationId } = survivor;
          log.error({ err: error, installationId }, 'a former workload could not be ended');
        }),
      );
      await Promise.all(endings);
    },
  };
}
