// Promises of the seam between core and its domains: the compiler proves that each route has one handler, and hooks run
// in the order of the domains, inside the change that they follow.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InstallationId } from '@platform/contract';
import { registerAccount } from '../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../tests/support/constellation.ts';
import { installTestApp } from '../../../tests/support/installed-app.ts';
import type { CoreContext } from './context.ts';
import { changing } from './database/changing.ts';
import { type Domain, handlersOf, schemesOf } from './domain.ts';
import type { coreDomains } from './domains.ts';
import { uninstallApp } from './installations/uninstall-app.ts';
import { Lifecycle } from './lifecycle.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

test('every route has exactly one handler, or core does not compile', () => {
  const handle = {} as { readonly [Name in 'one' | 'twice']: Domain<'health.read'> };
  const all = {} as ReturnType<typeof coreDomains>;
  const proofs = [
    () => handlersOf(all),
    // @ts-expect-error the other routes have no handler
    () => handlersOf([handle.one]),
    // @ts-expect-error one route has two handlers
    () => handlersOf([...all, handle.twice]),
  ];
  assert.equal(proofs.length, 3);
});

test('every kind of caller has exactly one credential scheme, or core does not compile', () => {
  const one = {} as Domain<'health.read', 'author'>;
  const all = {} as ReturnType<typeof coreDomains>;
  const proofs = [
    () => schemesOf(all),
    // @ts-expect-error the other kinds have no scheme
    () => schemesOf([one]),
    // @ts-expect-error one kind has two schemes
    () => schemesOf([...all, one]),
    // @ts-expect-error a domain that says it has the scheme of a kind gives it
    (): Domain<'health.read', 'author'> => ({ handlers: one.handlers }),
  ];
  assert.equal(proofs.length, 4);
});

test('hooks run one after the other in the order of the domains; one that fails ends the change', async () => {
  const called: string[] = [];
  const lifecycle = new Lifecycle();
  lifecycle.follow([
    {
      async accountPaused(trx) {
        trx.afterCommit(async () => void called.push('committed'));
        await Promise.resolve();
        called.push('first');
      },
    },
    {},
    {
      async accountPaused(_trx, key) {
        called.push(`second ${key}`);
        throw new Error('not now');
      },
    },
    { accountPaused: async () => void called.push('never') },
  ]);
  const change = changing(world.core.context, (trx) => lifecycle.accountPaused(trx, 'acct-1'));
  await assert.rejects(change, /not now/);
  assert.deepEqual(called, ['first', 'second acct-1']);
});

test('what a domain begins after the removal of an app waits for the commit', async () => {
  const account = await registerAccount(world, 'hooked');
  const app = await installTestApp(world, account, 'hooked-app', []);
  const context: CoreContext = { ...world.core.context, lifecycle: new Lifecycle() };
  const seen: (string | null)[] = [];
  const removedAt = async (id: InstallationId) => {
    const row = await context.pool.query('SELECT removed_at FROM installations WHERE id = $1', [id]);
    return row.rows[0]?.removed_at === null ? null : 'removed';
  };
  context.lifecycle.follow([
    {
      async installationEnded(trx, id) {
        seen.push(await removedAt(id));
        trx.afterCommit(async () => void seen.push(await removedAt(id)));
      },
    },
  ]);
  const { rows } = await context.pool.query<{ account_key: string }>(
    'SELECT account_key FROM installations WHERE id = $1',
    [app.installationId],
  );
  await uninstallApp(context, rows[0]?.account_key ?? '', app.appId);
  assert.deepEqual(seen, [null, 'removed']);
});
