// What publishing refuses of requested permissions, tried with every permission there is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifest } from './domains/packages.ts';
import { routes } from './domains.ts';
import { fieldErrors } from './field-errors.ts';
import {
  isCritical,
  isPermissionId,
  onlyResource,
  type PermissionId,
  partUsing,
  permissions,
  requiredRole,
  withoutCritical,
} from './permissions.ts';

const ids = Object.keys(permissions).filter(isPermissionId);

function faultsOf(id: PermissionId, resources: readonly string[], systemRoles: readonly string[] = []) {
  const parsed = manifest.safeParse({
    ...{ schemaVersion: 9, id: 'asking', version: '1.0.0', name: 'Asking', summary: 'Asks.' },
    frontend: {},
    workload: { runtime: 'node', entry: 'main.js' },
    systemRoles,
    permissions: [{ id, resources }],
  });
  return parsed.success ? [] : fieldErrors(parsed.error).map(({ path }) => path);
}

function rolesOf(id: PermissionId): string[] {
  const role = requiredRole(id);
  return role === undefined ? [] : [role];
}

test('a permission that knows one resource is refused with every other, one by one', () => {
  const alone = ids.filter((id) => onlyResource(id) !== null);
  assert.ok(alone.includes('messaging.read') && alone.includes('search.index'));
  for (const id of alone) {
    const only = onlyResource(id) ?? '';
    assert.deepEqual(faultsOf(id, [only], rolesOf(id)), [], id);
    const others = ['*', 'self', 'notes', 'self*', 's*', 'Self', 'https://api.example.com'];
    for (const other of others.filter((one) => one !== only)) {
      assert.deepEqual(faultsOf(id, [other], rolesOf(id)), ['permissions[0].resources[0]'], `${id} ${other}`);
      assert.deepEqual(faultsOf(id, [only, other], rolesOf(id)), ['permissions[0].resources[1]'], `${id} ${other}`);
    }
  }
});

test('every other permission may name what it is for, and everything', () => {
  for (const id of ids.filter((one) => onlyResource(one) === null && one !== 'network.connect'))
    for (const resources of [['*'], ['notes'], ['team-*', 'notes']]) assert.deepEqual(faultsOf(id, resources), [], id);
});

test('what is no permission is one fault beside the others, also by the names of members that every object has', () => {
  const parsed = manifest.safeParse({
    ...{ schemaVersion: 9, id: 'asking', version: '1.0.0', name: 'Asking', summary: 'Asks.', frontend: {} },
    permissions: [
      { id: 'search.indx', resources: ['self'] },
      { id: 'constructor', resources: ['self'] },
      { id: 'search.index', resources: ['*'] },
    ],
  });
  const faults = parsed.success ? [] : fieldErrors(parsed.error).map(({ path }) => path);
  assert.deepEqual(faults.toSorted(), ['permissions[0].id', 'permissions[1].id', 'permissions[2].resources[0]']);
});

test('requests of one permission count as one, with all their resources and the first reason', () => {
  const asking = { schemaVersion: 9, id: 'asking', version: '1.0.0', name: 'Asking', summary: 'Asks.' };
  const origin = 'https://api.example.com';
  const parsed = manifest.parse({
    ...asking,
    frontend: { csp: { connect: [origin] } },
    permissions: [
      { id: 'notifications.publish', resources: ['news', 'news'] },
      { id: 'network.connect', resources: ['https://img.example.com'] },
      { id: 'notifications.publish', resources: ['team.*', 'news'], reason: 'Says what is new.' },
      { id: 'network.connect', resources: [origin], reason: 'Loads pictures.' },
      { id: 'notifications.publish', resources: ['alarm'], reason: 'Another reason.' },
    ],
  });
  assert.deepEqual(parsed.permissions, [
    { id: 'notifications.publish', resources: ['news', 'team.*', 'alarm'], reason: 'Says what is new.' },
    { id: 'network.connect', resources: ['https://img.example.com', origin], reason: 'Loads pictures.' },
  ]);
  const many = (letter: string) => Array.from({ length: 200 }, (_, index) => `${letter}${index}`);
  const tooMany = manifest.safeParse({
    ...asking,
    frontend: {},
    permissions: ['a', 'b'].map((letter) => ({ id: 'notifications.publish', resources: many(letter) })),
  });
  assert.deepEqual(tooMany.success ? [] : fieldErrors(tooMany.error).map(({ path }) => path), ['permissions']);
});

test('a permission of a system role is refused to an app without that very role', () => {
  const reserved = ids.filter((id) => requiredRole(id) !== undefined);
  assert.deepEqual(reserved, ['schedules.manage', 'files.user.manage']);
  for (const id of reserved) {
    const others = reserved.filter((one) => one !== id).flatMap(rolesOf);
    for (const roles of [[], ['another.role'], others])
      assert.deepEqual(faultsOf(id, ['*'], roles), ['permissions[0].id'], `${id} ${roles.join()}`);
    assert.deepEqual(faultsOf(id, ['*'], [...others, ...rolesOf(id)]), []);
  }
});

test('the role that a route demands is the one that its permission demands', () => {
  for (const [route, spec] of Object.entries(routes)) {
    if (!('grant' in spec)) continue;
    const role = 'systemRole' in spec ? spec.systemRole : undefined;
    assert.equal(requiredRole(spec.grant.id), role, route);
  }
});

test('critical is what the contract lists, and nothing else', () => {
  const critical = ids.filter((id) => isCritical(id, '*'));
  assert.deepEqual(critical.toSorted(), [
    ...['apps.create', 'files.user.manage', 'mcp.tools.call', 'messaging.read', 'messaging.resolve', 'messaging.send'],
    ...['runtime.pause', 'system.inventory.read', 'wallet.payment.propose', 'wallet.policy.propose'],
  ]);
  for (const id of critical)
    for (const resource of ['notes.add', 'notes.*'])
      assert.equal(isCritical(id, resource), id !== 'mcp.tools.call', id);
});

test('what is left without critical grants is the request in its order, resource by resource', () => {
  const requested = ids.map((id) => ({ id, resources: ['notes', '*', 'n*'], reason: 'why' }));
  const left = withoutCritical(requested);
  assert.deepEqual(
    left.map(({ id, reason }) => [id, reason]),
    ids.map((id) => [id, 'why']),
  );
  for (const { id, resources } of left)
    assert.deepEqual(
      resources,
      ['notes', '*', 'n*'].filter((resource) => !isCritical(id, resource)),
    );
});

/** What pages do with it goes through the shell. */
const BY_BRIDGE: ReadonlySet<string> = new Set(['search.index']);

test('a permission said to be for one part of an app is one whose routes only that part can call', () => {
  for (const [route, spec] of Object.entries(routes)) {
    if (!('grant' in spec)) continue;
    const callers: readonly string[] = spec.callers;
    const part = partUsing(spec.grant.id);
    if (part === 'workload') assert.ok(!callers.includes('frontend'), route);
    if (part === 'frontend') assert.ok(!callers.includes('installation'), route);
    if (part === undefined && !BY_BRIDGE.has(spec.grant.id))
      assert.ok(callers.includes('frontend') && callers.includes('installation'), route);
  }
});
