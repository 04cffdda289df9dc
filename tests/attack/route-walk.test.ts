// Walks the whole route table with every kind of caller: each route refuses every caller its entry does not name,
// every foreign origin, and every installation without its grant.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type CallerKind,
  type ConfirmedOperation,
  confirmedBy,
  type Proposal,
  type RouteSpec,
  routes,
  SESSION_HEADER,
} from '@platform/contract';
import { type Cast, makeCast } from '../support/cast.ts';
import { confirm, registerAccount, signIn } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { connectHub } from '../support/mcp-client.ts';
import { problemCode } from '../support/raw-http.ts';

const KINDS: readonly CallerKind[] = [
  'anonymous',
  'session',
  'frontend',
  'installation',
  'node',
  'ingress',
  'author',
  'connection',
];
/** The account of the cast. */
const MASTER = 'castowner';
const LEAVER = 'leaver';
const PAYEE = 'payee';
const UUID = '01890000-0000-7000-8000-000000000000';

let constellation: Constellation;
let cast: Cast;
/** A call that waits for approval by a passkey. */
let proposed: Proposal;
/** What would replace the recipient of the account. */
let replacement: object;
/** Proposals to the wallet that wait for approval, by the operation. */
const inWallet = new Map<string, readonly string[]>();

before(async () => {
  constellation = await startConstellation({ config: { masterAccount: MASTER } });
  cast = await makeCast(constellation);
  proposed = await proposeCall();
  await proposeInWallet();
  await makeRecipient();
});
after(() => constellation.close());

async function proposeCall(): Promise<Proposal> {
  const { authorization = '' } = cast.credentials('installation');
  await using hub = await connectHub(constellation, authorization.slice('Bearer '.length));
  await hub.client.callTool({
    ...{ name: 'platform-messaging.direct', arguments: { to: MASTER } },
    _meta: { 'platform/propose': true },
  });
  const { json } = await cast.send({ path: '/v1/account/proposals', headers: cast.credentials('session') });
  const [proposal] = (json as { readonly items: Proposal[] }).items;
  assert.ok(proposal);
  return proposal;
}

/** Two of each kind. */
async function proposeInWallet(): Promise<void> {
  await registerAccount(constellation, PAYEE);
  const headers = { ...cast.credentials('installation'), 'content-type': 'application/json' };
  const payment = { to: PAYEE, amount: { currency: 'CREDIT', value: '1' } };
  const policy = { name: 'Some', currency: 'CREDIT', perPayment: '1', recipients: [PAYEE] };
  for (const [operation, path, body] of [
    ['wallet.payment', 'payments', payment],
    ['wallet.policy', 'policies', policy],
  ] as const) {
    const ids = [];
    for (const idempotencyKey of ['one', 'other']) {
      const sent = JSON.stringify({ ...body, idempotencyKey: `${operation} ${idempotencyKey}` });
      const { json } = await cast.send({ method: 'POST', path: `/v1/services/wallet/${path}`, headers, body: sent });
      ids.push((json as { proposal: { id: string } }).proposal.id);
    }
    inWallet.set(operation, ids);
  }
}

/** Of the account of the cast; another one takes its place only with a passkey. */
async function makeRecipient(): Promise<void> {
  const { browser } = cast.account;
  const { items } = await browser.take<{ items: { id: string }[] }>('/v1/auth/passkeys');
  const wrappings = [{ passkeyId: items[0]?.id, salt: 'rp', sealed: 'A'.repeat(80) }];
  const body = { ifVersion: 0, publicKey: 'A'.repeat(43), wrappings };
  await browser.take('/v1/account/recipient', { method: 'PUT', body });
  replacement = { ifVersion: 1, publicKey: 'E'.repeat(43), wrappings };
}

/** The path with its parameters filled in by values of the right shape that name nothing. */
function somePath(spec: RouteSpec): string {
  return spec.path
    .replace('/node/installations/:id', `/node/installations/inst-${UUID}`)
    .replace('/drafts/:id', `/drafts/drf-${UUID}`)
    .replace('/web-search/:id', `/web-search/wsr-${UUID}`)
    .replace('/collections/:id', `/collections/col-${UUID}`)
    .replace('/content-invitations/:id', `/content-invitations/civ-${UUID}`)
    .replace('-files/:id', `-files/fil-${UUID}`)
    .replace('/files/:id', `/files/fil-${UUID}`)
    .replace('/files/shared/:id', `/files/shared/fil-${UUID}`)
    .replace(':memberId', `mem-${UUID}`)
    .replace(':key', 'some-key')
    .replace('/notifications/:id', `/notifications/ntf-${UUID}`)
    .replace('/work-leases/:id', `/work-leases/lease-${UUID}`)
    .replace('/schedules/:scheduleId', `/schedules/sch-${UUID}`)
    .replace('/wallet/proposals/:id', `/wallet/proposals/wpr-${UUID}`)
    .replace('/policies/:id', `/policies/pol-${UUID}`)
    .replace('/receipts/:id', `/receipts/rcp-${UUID}`)
    .replace('/proposals/:id', `/proposals/prop-${UUID}`)
    .replace(':provider', 'some-provider')
    .replace(':setting', 'currency')
    .replace(':appId', 'no-such-app')
    .replace(':version', '1.0.0')
    .replace(':number', '1')
    .replace(':hash', '0'.repeat(64))
    .replace(':entryId', 'entry')
    .replace(':id', 'some-id');
}

const table = Object.entries(routes) as [string, RouteSpec][];

/** Of routes that a passkey confirms: the rest of a body that is valid, by operation. */
const CONFIRMED_BODIES: Readonly<Partial<Record<ConfirmedOperation, object>>> = {
  'account.delete': { name: LEAVER },
  'author.allow': { code: 'BCDFGHJKMN', allow: true },
  'connection.allow': { decision: 'allow', scopes: ['tools:propose:*'] },
  'operator.account.delete': { name: 'no-such-account' },
  'operator.provider.set': { baseUrl: 'https://models.example/v1', dialect: 'openai' },
  'operator.setting.change': { value: 'EUR' },
  'secret.bind': { secret: 'some-secret', declarationHash: '0'.repeat(64) },
};
const SUBJECTS: Readonly<Partial<Record<ConfirmedOperation, string>>> = {
  'connection.allow': 'some-id',
  'operator.provider.remove': 'some-provider',
  'operator.provider.set': 'some-provider@https://models.example',
  'operator.setting.change': 'currency.EUR',
  'passkey.remove': 'some-id',
  'secret.bind': 'some-secret',
};

test('a workload can be served under /v1/services alone; what only its Gateway may call lies under /v1/gateway', () => {
  for (const [id, { path, callers }] of table) {
    if (path.startsWith('/v1/gateway/')) assert.deepEqual(callers, ['installation'], id);
    else if (callers.includes('installation')) assert.ok(path.startsWith('/v1/services/'), id);
  }
});

for (const [id, spec] of table) {
  const request = { method: spec.method, path: somePath(spec) };

  for (const kind of KINDS) {
    if (spec.callers.includes(kind) || spec.callers.includes('anonymous')) continue;
    test(`${id} refuses a caller of kind ${kind}`, async () => {
      const answer = await cast.send({ ...request, headers: cast.credentials(kind) });
      assert.equal(problemCode(answer), kind === 'anonymous' ? 'unauthenticated' : 'not_authorized');
    });
  }

  if (!spec.callers.includes('anonymous')) {
    test(`${id} refuses credentials that nobody was given`, async () => {
      const forged = ['pfc_', 'pcs_', 'pnd_', 'pin_', 'pat_', 'pct_', 'pgw_', 'pdc_'].map((prefix) => ({
        authorization: `Bearer ${prefix}${'A'.repeat(43)}`,
      }));
      for (const headers of [
        ...forged,
        { authorization: 'Bearer x' },
        { authorization: 'Basic eDp5' },
        { cookie: `platform_session=${'A'.repeat(43)}` },
      ]) {
        const answer = await cast.send({ ...request, headers: { ...headers, origin: constellation.origin } });
        assert.equal(problemCode(answer), 'unauthenticated', JSON.stringify(headers));
      }
    });
  }

  if (spec.origin === 'shell') {
    const kind = spec.callers[0] ?? 'anonymous';
    test(`${id} refuses every origin but the shell's own`, async () => {
      const { origin: appOrigin } = cast.credentials('frontend');
      const { origin: _own, ...credentials } = cast.credentials(kind);
      const foreign = [
        undefined,
        'null',
        'https://evil.example',
        appOrigin,
        `${constellation.origin}.evil.example`,
        constellation.origin.replace('http', 'https'),
      ];
      for (const origin of foreign) {
        const answer = await cast.send({
          ...request,
          headers: origin === undefined ? credentials : { ...credentials, origin },
        });
        assert.equal(problemCode(answer), 'origin_not_allowed', String(origin));
      }
    });
  }

  if (spec.callers.includes('session')) {
    test(`${id} refuses a session that another site sends along`, async () => {
      for (const site of ['same-site', 'cross-site']) {
        const answer = await cast.send({
          ...request,
          headers: { ...cast.credentials('session'), 'sec-fetch-site': site },
        });
        assert.equal(problemCode(answer), 'origin_not_allowed', site);
      }
    });
    test(`${id} refuses any session but the one that the request names`, async () => {
      const headers = { ...cast.credentials('session'), [SESSION_HEADER]: `ses-${UUID}` };
      assert.equal(problemCode(await cast.send({ ...request, headers })), 'session_replaced');
    });
    test(`${id} refuses two session cookies`, async () => {
      const session = cast.credentials('session');
      const answer = await cast.send({
        ...request,
        headers: { ...session, cookie: `${session.cookie}; ${session.cookie}` },
      });
      assert.equal(problemCode(answer), 'unauthenticated');
    });
  }

  for (const operation of confirmedBy(spec)) {
    test(`${id} takes no effect without the passkey, used for ${operation}, in its session`, async () => {
      // Not the session of the registration, which may do more for some minutes. The master account is never deleted.
      const account = operation === 'account.delete' ? await registerAccount(constellation, LEAVER) : cast.account;
      const session = await signIn(constellation, account.authenticator);
      const ofProposal = operation === 'tools.approve';
      const path = request.path
        .replace(':name', 'no-such-account')
        .replace(':slot', 'slot')
        .replace(`prop-${UUID}`, proposed.id)
        .replace(`wpr-${UUID}`, inWallet.get(operation)?.[0] ?? '');
      const valid = operation === 'recipient.replace' ? replacement : CONFIRMED_BODIES[operation];
      const body = ofProposal ? { argumentsHash: proposed.argumentsHash } : valid;
      const about = ofProposal ? proposed.id : (inWallet.get(operation)?.[0] ?? SUBJECTS[operation]);
      const act = (confirmation?: object) =>
        session.fetch(path, { method: spec.method, body: { ...body, confirmation } });
      const bare = problemCode(await act());
      assert.ok(bare === 'invalid_request' || (operation === 'secret.bind' && bare === 'not_found'), bare);
      const other = operation === 'account.export' ? 'account.delete' : 'account.export';
      assert.equal(problemCode(await act(await confirm(session, other))), 'verification_failed', 'another operation');
      const elsewhere = await confirm(account, operation, about);
      assert.equal(problemCode(await act(elsewhere)), 'verification_failed', 'another session');
      if (about === undefined) return;
      const subject = await confirm(session, operation, inWallet.get(operation)?.[1] ?? 'something-else');
      assert.equal(problemCode(await act(subject)), 'verification_failed', 'about something else');
    });
  }

  if (spec.callers.includes('author')) {
    test(`${id} refuses the token of a command line from any page`, async () => {
      for (const origin of [constellation.origin, cast.credentials('frontend').origin ?? '', 'null']) {
        const answer = await cast.send({ ...request, headers: { ...cast.credentials('author'), origin } });
        assert.equal(problemCode(answer), 'origin_not_allowed', origin);
      }
    });
  }

  if (spec.callers.includes('frontend')) {
    test(`${id} takes a frontend capability from its own origin only`, async () => {
      const { authorization = '' } = cast.credentials('frontend');
      const other = cast.powerless('frontend').origin;
      for (const origin of [undefined, other, constellation.origin, 'null', 'https://evil.example']) {
        const answer = await cast.send({
          ...request,
          headers: origin === undefined ? { authorization } : { authorization, origin },
        });
        assert.equal(problemCode(answer), 'origin_not_allowed', String(origin));
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
      }
    });
  }

  for (const kind of ['frontend', 'installation'] as const) {
    if (spec.grant === undefined || !spec.callers.includes(kind)) continue;
    test(`${id} refuses a caller of kind ${kind} without the grant ${spec.grant.id}`, async () => {
      const body = spec.body === undefined ? {} : { body: JSON.stringify({ topic: 'news', title: 'x' }) };
      const headers = {
        ...cast.powerless(kind),
        ...(spec.body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      assert.equal(problemCode(await cast.send({ ...request, headers, ...body })), 'grant_missing');
    });
  }

  for (const kind of ['frontend', 'installation'] as const) {
    if (spec.systemRole === undefined || !spec.callers.includes(kind)) continue;
    test(`${id} refuses a caller of kind ${kind} without the system role ${spec.systemRole}, whatever it was granted`, async () => {
      const answer = await cast.send({ ...request, headers: cast.credentials(kind) });
      assert.equal(problemCode(answer), 'not_authorized');
    });
  }

  test(`${id} offers its own methods only, and says which`, async () => {
    const offered: string[] = table
      .filter(([, other]) => other.path === spec.path)
      .flatMap(([, { method }]) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      if (offered.includes(method)) continue;
      // A literal path such as /read-all also matches a pattern; only exact owners of the path are asked.
      const answer = await cast.send({ method, path: request.path, headers: cast.credentials('session') });
      assert.equal(problemCode(answer), 'method_not_allowed', method);
      assert.deepEqual(answer.headers.allow?.split(', ').sort(), [...new Set(offered)].sort());
    }
  });
}
