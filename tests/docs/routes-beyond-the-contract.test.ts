// Whatever this platform offers beyond the interface that it was specified with is written down, with its reason, in
// docs/decisions/routes-beyond-the-contract.md: every route, every error code and every bridge method.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { errors, routes } from '@platform/contract';
import { allSamples } from '../../packages/shell/test-support/samples-of.ts';

const DECISIONS = new URL('../../docs/decisions/routes-beyond-the-contract.md', import.meta.url);

/** As specified: `method path`, with `|` between several methods or last segments. */
const SPECIFIED = `
POST /v1/auth/register/options|verify
POST /v1/auth/login/options|verify
GET /v1/auth/session
POST /v1/auth/logout
GET /v1/auth/passkeys
POST /v1/auth/passkeys/options|verify
PATCH|DELETE /v1/auth/passkeys/:
GET /v1/auth/sessions
DELETE /v1/auth/sessions/:
GET /v1/catalog
GET /v1/catalog/:
PUT|DELETE /v1/catalog/:/versions/:
GET|POST /v1/apps
DELETE /v1/apps/:
POST /v1/apps/:/launch|start|stop|upgrade
GET /v1/apps/:/status|logs|public|secret-bindings
GET|PUT /v1/apps/:/permissions|intelligence
PUT|DELETE /v1/apps/:/secret-bindings/:
POST /v1/apps/:/public/renew
POST /v1/frontend/exchange
GET /v1/notifications
POST /v1/notifications/:/read
POST /v1/notifications/read-all
GET /v1/events
GET /v1/push/key
POST|DELETE /v1/push/subscriptions
GET|PATCH /v1/account/notification-settings
GET /v1/search
GET /v1/account/intelligence
PATCH /v1/account/intelligence/:
PUT|DELETE /v1/account/intelligence/:/key
GET /v1/account/secrets
PUT|DELETE /v1/account/secrets/:
GET|POST /v1/services/notifications
GET /v1/services/notifications/stream
POST /v1/services/notifications/:/read
POST /v1/services/notifications/read-all
PUT|POST|DELETE /v1/services/search/index
DELETE /v1/services/search/index/:
GET|POST /v1/services/workflows
GET|DELETE /v1/services/workflows/:
GET /v1/services/workflows/:/history
POST /v1/services/workflows/:/complete
POST /v1/services/workflows/:/activities/:/claim|renew|complete
POST /v1/services/runtime/work-leases
POST /v1/services/runtime/work-leases/:/renew
DELETE /v1/services/runtime/work-leases/:
GET /v1/services/apps|system
POST /v1/services/apps
GET /v1/account/drafts
POST /v1/account/drafts/:/accept|decline
POST /v1/services/web-search
GET /v1/apps/:/agent
POST /v1/apps/:/agent/web-search/:
DELETE /v1/apps/:/agent/web-search
GET|POST /v1/services/schedules
GET|PATCH|DELETE /v1/services/schedules/:
POST /v1/services/schedules/:/run
GET /v1/services/messaging/identity|conversations
GET /v1/services/messaging/contacts/:
POST /v1/services/messaging/conversations/direct
POST /v1/services/messaging/conversations/:/accept|decline|leave|block|read
GET|POST /v1/services/messaging/conversations/:/messages
POST /v1/services/messaging/sync
GET|PUT /v1/account/recipient
GET|POST /v1/account/contacts
POST /v1/services/mcp
POST /mcp
POST /mcp/:
POST /v1/services/mcp/:
GET /v1/account/tool-calls
GET /v1/account/proposals
POST /v1/account/proposals/:/approve|decline
PATCH|DELETE /v1/account/contacts/:
POST /v1/account/connection-requests/:
GET /v1/account/connections
DELETE /v1/account/connections/:
GET|POST /v1/services/content/collections
GET|PATCH|DELETE /v1/services/content/collections/:
GET /v1/services/content/collections/:/items|changes
GET|PUT|DELETE /v1/services/content/collections/:/items/:
GET|POST /v1/services/content/collections/:/members
DELETE /v1/services/content/collections/:/members/:
GET /v1/account/content-invitations
POST /v1/account/content-invitations/:/accept|decline
GET /v1/services/files
GET|PUT|DELETE /v1/services/files/:
GET|PUT /v1/services/files/:/access
GET /v1/services/files/shared
GET|PUT /v1/services/files/shared/:
POST /v1/services/wallet/payments|policies
GET /v1/services/wallet/proposals/:
GET /v1/wallet
GET /v1/wallet/entries|proposals|policies|export
GET /v1/wallet/proposals/:
POST /v1/wallet/proposals/:/approve|decline
DELETE /v1/wallet/policies/:
GET /v1/wallet/receipts/:
`;

const SPECIFIED_CODES = `
invalid_request forbidden_material invalid_cursor invalid_path unauthenticated session_expired session_replaced
verification_failed origin_not_allowed grant_missing grants_exceed_request not_authorized master_account_only plan_required
proposal_conflict recipient_conflict placement_not_allowed not_found method_not_allowed unsupported_media_type account_name_taken workflow_conflict
activity_conflict activity_leased lease_lost workflow_not_running already_installed version_exists version_in_use disk_quota content_conflict precondition_failed
binding_stale conversation_conflict contact_exists payload_too_large workflow_input_too_large workflow_result_too_large unknown_host
consent_denied policy_refused insufficient_funds rate_limited budget_exhausted activity_limit workflow_run_limit concurrency_limited upstream_failed
upstream_redirect_refused upstream_timeout transport_unavailable workload_unavailable runtime_paused unavailable
`;

const SPECIFIED_METHODS = `
context.get state.get state.set links.open notifications.list notifications.read notifications.readAll apps.list apps.open
apps.start apps.stop apps.return apps.requestInstall apps.uninstall apps.create launcher.register launcher.restore
runtime.status runtime.pause wallet.proposePayment wallet.proposePolicy mcp.listTools mcp.callTool mcp.proposeTool
search.query chrome.set contacts.list contacts.add contacts.edit contacts.remove contacts.pick
files.pick files.save recipient.status recipient.seal recipient.open
`;

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** `GET|POST /a/b|c` is four routes. A `*` at the end stays. */
function expanded(methods: string, path: string): string[] {
  const last = path.lastIndexOf('/') + 1;
  const paths = path
    .slice(last)
    .split('|')
    .map((segment) => path.slice(0, last) + segment);
  return methods.split('|').flatMap((method) => paths.map((one) => `${method} ${one.replaceAll(/:\w+/g, ':')}`));
}

/** What the document names in backticks; a path without its method stands for every method. */
async function named(): Promise<(route: string) => boolean> {
  const text = (await readFile(DECISIONS, 'utf8')).replaceAll(/\s+/g, ' ');
  const found = [...text.matchAll(/`(?:([A-Z]+(?:\|[A-Z]+)*) )?(\/v1\/[^\s`?]*)/g)].flatMap(([, methods, path = '']) =>
    expanded(methods ?? '*', path),
  );
  return (route) => {
    const [method, path = ''] = route.split(' ');
    return found.some((one) => {
      const [methods, pattern = ''] = one.split(' ');
      if (methods !== '*' && methods !== method) return false;
      return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
    });
  };
}

test('every route is specified, or written down with its reason', async () => {
  const specified = new Set(
    SPECIFIED.trim()
      .split('\n')
      .flatMap((line) => expanded(...(line.split(' ') as [string, string]))),
  );
  const isNamed = await named();
  const own = Object.values(routes).map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, ':')}`);
  const beyond = own.filter((route) => !specified.has(route) && !isNamed(route));
  assert.deepEqual(beyond, []);
  const missing = [...specified].filter((route) => !own.includes(route));
  assert.deepEqual(missing, [], 'and every specified one is there');
});

test('every error code is specified, or written down', async () => {
  const text = await readFile(DECISIONS, 'utf8');
  const specified = words(SPECIFIED_CODES);
  const codes = Object.keys(errors);
  assert.deepEqual(
    codes.filter((code) => !specified.includes(code) && !text.includes(`\`${code}\``)),
    [],
  );
  assert.deepEqual(
    specified.filter((code) => !codes.includes(code)),
    [],
  );
});

test('every bridge method is specified, or written down', async () => {
  const text = await readFile(DECISIONS, 'utf8');
  // every-caller.test.ts of the shell holds that there is a sample of every method.
  const names = Object.keys(await allSamples());
  assert.ok(names.length > 20, `${names.length}`);
  const specified = words(SPECIFIED_METHODS);
  // `notifications.settings|mute` names two.
  const isNamed = (method: string): boolean => {
    const [domain, name = ''] = method.split('.');
    return [...text.matchAll(/`(\w+)\.([\w|]+)`/g)].some(
      ([, one, names = '']) => one === domain && names.split('|').includes(name),
    );
  };
  assert.deepEqual(
    names.filter((method) => !specified.includes(method) && !isNamed(method)),
    [],
  );
});
