// The way to the internet for an ordinary user: a packet filter inside the network of the workload, and behind it a
// program that carries what passes through the sockets of this user.
//
// Two things close it, and either of them is enough: without the carrier there is no device that leads anywhere, and
// without the filter's list of addresses nothing reaches it.

import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../clock.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { run } from '../run-command.ts';
import { type CarrierProcess, type CarrierTools, hasDevice, startCarrier } from './carrier-process.ts';
import type { Carrier } from './carriers.ts';
import type { Egress, EgressWays, Launcher } from './egress.ts';
import { innerMachine, innerNothing, innerRuleset } from './inner-ruleset.ts';
import { insideOf } from './inside.ts';
import { ownPublicAddresses, watchOwnAddresses } from './own-addresses.ts';

export interface UserEgressTools extends CarrierTools {
  readonly nft: string;
}

export interface UserEgressParts {
  readonly tools: UserEgressTools;
  readonly carrier: Carrier;
  readonly log: Log;
}

/** Milliseconds before a carrier that has ended is started again: doubled each time, up to the second. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 60_000;
/** A carrier that has run for so long was not at fault for the end of the one before. */
const LONG_RUN = 60_000;
const DEVICE_LIMIT = 1_000;
const WITHOUT_IPV6 = '/proc/sys/net/ipv6/conf/default/disable_ipv6';

interface UserEgress extends Egress {
  /** Updates the filter after this machine's addresses have changed. */
  setOwnAddresses(addresses: readonly string[]): void;
}

export function userEgressWays(parts: UserEgressParts): EgressWays {
  const open = new Set<UserEgress>();
  let watch: { stop(): void } | undefined;

  function keepWatch(): void {
    if (open.size > 0) {
      watch ??= watchOwnAddresses((addresses) => {
        for (const one of open) one.setOwnAddresses(addresses);
      });
      return;
    }
    watch?.stop();
    watch = undefined;
  }

  return {
    attach({ key, launcher }) {
      if (launcher === undefined)
        throw new Error('The workload has no launcher through which its network can be entered.');
      const egress = userEgress(parts, launcher, key);
      return {
        ...egress,
        async grant() {
          // Before the addresses are read, so that no change falls in between.
          open.add(egress);
          keepWatch();
          await egress.grant();
        },
        async revoke() {
          await egress.revoke();
          open.delete(egress);
          keepWatch();
        },
        async close() {
          await egress.close();
          open.delete(egress);
          keepWatch();
        },
      };
    },
    async close() {
      watch?.stop();
      watch = undefined;
    },
  };
}

function userEgress({ tools, carrier, log }: UserEgressParts, launcher: Launcher, key: string): UserEgress {
  let granted = false;
  /** Whether the filter stands as it must. */
  let filtered = false;
  let running: CarrierProcess | undefined;
  let again: NodeJS.Timeout | undefined;
  let pause = FIRST_PAUSE;
  let trouble: string | undefined;

  /** What comes from outside and what is done here by itself never overlap. */
  const inTurn = oneAtATime();

  async function filter(rules: string): Promise<void> {
    const script = `[ ! -e ${WITHOUT_IPV6} ] || echo 1 > ${WITHOUT_IPV6}; exec "$0" -f -`;
    await run(insideOf(tools.nsenter, launcher, ['/bin/sh', '-euc', script, tools.nft]), { input: rules });
  }

  async function begin(): Promise<void> {
    if (!filtered) await filter(innerRuleset(ownPublicAddresses()));
    filtered = true;
    const carrying = await startCarrier(carrier, tools, launcher);
    if (!launcher.isAlive()) {
      await carrying.kill();
      throw new Error('the workload has ended');
    }
    const since = performance.now();
    running = carrying;
    trouble = undefined;
    void carrying.ended.then((said) => {
      if (running !== carrying) return;
      running = undefined;
      if (performance.now() - since > LONG_RUN) pause = FIRST_PAUSE;
      beginAgain(new Error(said));
    });
  }

  function beginAgain(error: unknown): void {
    if (!launcher.isAlive()) return;
    log.warn({ installationId: key, err: error }, `${carrier.name} failed and is being restarted`);
    trouble = `${carrier.name}, which provides it, failed and is being restarted; see the platform’s log.`;
    again = setTimeout(() => {
      void inTurn(async () => {
        if (granted && running === undefined) await begin().catch(beginAgain);
      });
    }, pause);
    again.unref();
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }

  async function stop(): Promise<void> {
    clearTimeout(again);
    trouble = undefined;
    const former = running;
    running = undefined;
    await former?.kill();
  }

  return {
    grant: () =>
      inTurn(async () => {
        await filter(innerRuleset(ownPublicAddresses()));
        filtered = true;
        granted = true;
        pause = FIRST_PAUSE;
        // This machine may have no network just now, and have one later.
        await begin().catch(beginAgain);
      }),
    revoke: () =>
      inTurn(async () => {
        granted = false;
        await stop();
        if (await isGone(launcher)) return;
        filtered = false;
        await filter(innerNothing);
      }),
    trouble: () => trouble,
    setOwnAddresses(addresses) {
      void inTurn(async () => {
        if (!granted) return;
        try {
          await filter(innerMachine(addresses));
        } catch (error) {
          filtered = false;
          await stop();
          beginAgain(error);
        }
      });
    },
    close: () =>
      inTurn(async () => {
        granted = false;
        await stop();
      }),
  };
}

/** The kernel takes the device away when the carrier's last descriptor closes, which is at its end. */
async function isGone(launcher: Launcher): Promise<boolean> {
  const begun = performance.now();
  while (hasDevice(launcher)) {
    if (performance.now() - begun > DEVICE_LIMIT) return false;
    await delay(5);
  }
  return true;
}
