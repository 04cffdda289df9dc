// Who may register: everybody, whoever has an invitation, or nobody; and each invitation makes one account.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Invitation, limits, type NewInvitation } from '@platform/contract';
import {
  newAuthenticator,
  registerAccount,
  signIn,
  type TestAccount,
  TestBrowser,
} from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { databaseText } from '../../../test-support/database-sweep.ts';
import { createInvitation, listInvitations } from './invitations.ts';

const MASTER = 'landlord';
const BEGIN = '/v1/auth/register/options';
const FINISH = '/v1/auth/register/verify';
const INVITATIONS = '/v1/operator/invitations';

let now = Date.parse('2026-11-23T12:00:00Z');
let platform: Constellation;
/** The same platform with `PLATFORM_REGISTRATION=open` and `closed`. */
let open: TestCore;
let closed: TestCore;
let master: TestAccount;
let count = 0;

before(async () => {
  const config = { masterAccount: MASTER, registration: 'invite' } as const;
  platform = await startConstellation({ config, clock: () => new Date(now) });
  const other = (registration: 'open' | 'closed') =>
    platform.replica({ config: { ...platform.core.context.config, registration, listenPort: 0 } });
  open = await other('open');
  closed = await other('closed');
});
after(() => platform.close());

const targetOf = (core: TestCore) => ({ port: core.port, origin: platform.origin });
const tokenOf = ({ url }: { readonly url: string }) => new URL(url).hash.replace('#invite=', '');
const invite = (name: string | null = null) => createInvitation(platform.core.context, name);
function newName(): string {
  count += 1;
  return `guest-${count}`;
}

function refused(answer: RawAnswer, status: number, code: string, words?: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  if (words !== undefined) assert.match(answer.text, words);
}

/** Begins a registration; `finish` ends it, at this replica or another one. */
async function begin(name: string, invitation?: string, target = targetOf(platform.core)) {
  const browser = new TestBrowser(target);
  const options = await browser.begin(BEGIN, { name, ...(invitation === undefined ? {} : { invitation }) });
  const body = { challengeId: options.challengeId, credential: newAuthenticator(platform).create(options) };
  return { finish: (at = target) => new TestBrowser(at).fetch(FINISH, { body }) };
}

test('the first account, the master’s too, is made with an invitation of the server, even on a closed platform', async () => {
  const anonymous = new TestBrowser(targetOf(closed));
  refused(await anonymous.fetch(BEGIN, { body: { name: MASTER } }), 403, 'not_authorized', /invitation only/);
  const invitation = await createInvitation(closed.context, MASTER);
  assert.match(invitation.url, /\/#invite=piv_[A-Za-z0-9_-]{43}$/);
  refused(
    await anonymous.fetch(BEGIN, { body: { name: 'stranger', invitation: tokenOf(invitation) } }),
    403,
    'not_authorized',
    /another name/,
  );
  const { authenticator } = await registerAccount(targetOf(closed), MASTER, {}, tokenOf(invitation));
  master = await signIn(platform, authenticator);
  await assert.rejects(createInvitation(closed.context, null), /Registration is closed\./);
});

test('every page learns who may register', async () => {
  for (const [core, registration] of [
    [platform.core, 'invite'],
    [open, 'open'],
    [closed, 'closed'],
  ] as const) {
    const answer = await new TestBrowser(targetOf(core)).fetch('/v1/auth/registration');
    assert.deepEqual([answer.status, answer.json], [200, { registration, operator: null }]);
  }
});

describe('an invitation', () => {
  test('is needed, and without one nobody learns which names are taken', async () => {
    const browser = new TestBrowser(platform);
    const answers = [MASTER, newName()].map((name) => browser.fetch(BEGIN, { body: { name } }));
    for (const answer of await Promise.all(answers)) refused(answer, 403, 'not_authorized', /invitation only/);
    const wrong = await browser.fetch(BEGIN, { body: { name: MASTER, invitation: `piv_${'A'.repeat(43)}` } });
    refused(wrong, 403, 'not_authorized', /does not work/);
  });

  test('makes one account, and is stored by its hash alone', async () => {
    const invitation = await invite();
    const token = tokenOf(invitation);
    const text = await databaseText(platform.core.context.pool);
    assert.ok(text.includes(invitation.id) && !text.includes(token));
    await registerAccount(platform, newName(), {}, token);
    assert.ok(!(await listed()).includes(invitation.id));
    const again = await new TestBrowser(platform).fetch(BEGIN, { body: { name: newName(), invitation: token } });
    refused(again, 403, 'not_authorized', /was used/);
  });

  test('makes one account of many registrations at the same time, also on different replicas', async () => {
    const token = tokenOf(await invite());
    const replica = await platform.replica({ config: { ...platform.core.context.config, listenPort: 0 } });
    const begun = await Promise.all(Array.from({ length: 6 }, () => begin(newName(), token)));
    const answers = await Promise.all(
      begun.map(({ finish }, index) => finish(targetOf(index % 2 === 0 ? platform.core : replica))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 403, 403, 403, 403, 403]);
    for (const answer of answers) if (answer.status === 403) assert.equal(problemCode(answer), 'not_authorized');
  });

  test('is still there after a registration that failed', async () => {
    const token = tokenOf(await invite());
    const name = newName();
    const [one, other] = [await begin(name, token), await begin(newName(), token)];
    await registerAccount(targetOf(open), name);
    refused(await one.finish(), 409, 'account_name_taken');
    assert.equal((await other.finish()).status, 201);
  });

  test('for a name makes that account alone', async () => {
    const name = newName();
    const token = tokenOf(await invite(name));
    const other = await new TestBrowser(platform).fetch(BEGIN, { body: { name: newName(), invitation: token } });
    refused(other, 403, 'not_authorized', /another name/);
    assert.equal((await (await begin(name, token)).finish()).status, 201);
  });

  test('that was revoked meanwhile, or has expired, makes none', async () => {
    const [revoked, expired] = [await invite(), await invite()];
    const begun = await begin(newName(), tokenOf(revoked));
    const path = `${INVITATIONS}/${revoked.id}`;
    assert.equal((await master.fetch(path, { method: 'DELETE' })).status, 204);
    refused(await master.fetch(path, { method: 'DELETE' }), 404, 'not_found');
    refused(await begun.finish(), 403, 'not_authorized', /revoked/);
    now += limits.invitationDays.value * 86_400_000;
    const late = await new TestBrowser(platform).fetch(BEGIN, {
      body: { name: newName(), invitation: tokenOf(expired) },
    });
    refused(late, 403, 'not_authorized', /has expired/);
    assert.deepEqual(await listed(), []);
  });

  async function listed(): Promise<string[]> {
    return (await listInvitations(platform.core.context)).map(({ id }) => id);
  }
});

test('a setting that changed counts for registrations that had begun', async () => {
  const token = tokenOf(await invite());
  const atOpen = await begin(newName(), undefined, targetOf(open));
  refused(await atOpen.finish(targetOf(platform.core)), 403, 'not_authorized', /invitation only/);
  const invited = await begin(newName(), token);
  refused(await invited.finish(targetOf(closed)), 403, 'not_authorized', /takes no new accounts/);
});

test('the master account invites with its session, and nobody else does', async () => {
  const name = newName();
  const { invitation } = await master.browser.take<{ invitation: NewInvitation }>(INVITATIONS, { body: { name } });
  const { items } = await master.browser.take<{ items: Invitation[] }>(INVITATIONS);
  const { url: _, ...shown } = invitation;
  assert.deepEqual(
    items.filter(({ id }) => id === shown.id),
    [shown],
  );
  const guest = await registerAccount(platform, name, {}, tokenOf(invitation));
  const calls = [
    guest.fetch(INVITATIONS),
    guest.fetch(INVITATIONS, { body: {} }),
    guest.fetch(`${INVITATIONS}/${invitation.id}`, { method: 'DELETE' }),
  ];
  for (const answer of await Promise.all(calls)) refused(answer, 403, 'master_account_only');
});

test('there are at most so many at a time', async () => {
  const { context } = platform.core;
  const rows = limits.invitations.value - (await listInvitations(context)).length;
  await context.pool.query(
    `INSERT INTO invitations (id, token_hash, created_at, expires_at)
     SELECT 'inv-' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), $2, $3 FROM generate_series(1, $1) n`,
    [rows, new Date(now), new Date(now + 60_000)],
  );
  await assert.rejects(invite(), /Revoke some first\./);
});
