// What the wallet shows, read through the shell, and what can be done in it.
import type { App, Policy, Receipt, ShownWalletProposal, WalletBalances, WalletEntry } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';

export interface Overview extends WalletBalances {
  readonly address: string;
  readonly proposals: readonly ShownWalletProposal[];
  readonly policies: readonly Policy[];
  /** Names of installed apps, by id. */
  readonly apps: ReadonlyMap<string, string>;
}

export interface Statement {
  readonly entries: readonly WalletEntry[];
  readonly nextCursor: string | null;
}

export function useWallet(app: App, search: string) {
  const overview = useLoaded(app, () => readOverview(app));
  const [statement, setStatement] = useState<Statement>();
  const [problem, setProblem] = useState<string>();
  const asked = useRef(0);

  async function read(cursor?: string): Promise<void> {
    asked.current += 1;
    const mine = asked.current;
    try {
      const page = await app.bridge.call('wallet.entries', {
        ...(search === '' ? {} : { search }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      // Only the answer to the newest question counts.
      if (mine !== asked.current) return;
      const before = cursor === undefined ? [] : (statement?.entries ?? []);
      setStatement({ entries: [...before, ...page.items], nextCursor: page.nextCursor });
    } catch (error) {
      setProblem(messageOf(error));
    }
  }
  const { value } = overview;
  useEffect(() => void read(), [search, value]);

  /** Then everything is read anew. */
  async function act<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    setProblem(undefined);
    try {
      return await work();
    } catch (error) {
      setProblem(messageOf(error));
      return undefined;
    } finally {
      await overview.reload();
    }
  }

  return {
    overview: value,
    statement,
    failure: problem ?? overview.failure,
    readOn: () => read(statement?.nextCursor ?? undefined),
    act,
    review: (id: string) => act(() => app.bridge.call('wallet.review', { id })),
    removePolicy: (id: string) => act(() => app.bridge.call('wallet.removePolicy', { id })),
    save: (format: 'csv' | 'json') => act(() => app.bridge.call('wallet.export', { format })),
    receipt: (id: string): Promise<Receipt> => app.bridge.call('wallet.receipt', { id }),
  };
}

/** Of proposals the newest page: those before are in the statement where they were carried out. */
async function readOverview(app: App): Promise<Overview> {
  const [balances, proposals, policies, apps] = await Promise.all([
    app.bridge.call('wallet.read'),
    app.bridge.call('wallet.proposals', {}),
    app.bridge.call('wallet.policies', {}),
    // Without the permission apps are called by their ids.
    app.apps.list().catch(() => []),
  ]);
  return {
    ...balances,
    proposals: proposals.items,
    policies: policies.items,
    apps: new Map(apps.map(({ appId, name }) => [appId, name])),
  };
}
