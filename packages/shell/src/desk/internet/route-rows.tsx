// The public routes of an app, each with a switch that opens or closes it at once.
import type { PermissionsView, PublicAddress, PublicRouteStatus } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { resourcesOf } from '../../apps/bridge/grants.ts';
import { grantsChanged } from '../../apps/frames/app-context.ts';
import { Button, Note } from '../../design/controls.tsx';
import { joinGrants } from '../prompts/narrowing.ts';
import { routeInWords, routeWords } from '../prompts/route-words.ts';
import { canOpen, openPartOf, openThrough, withoutRoute, withRoute } from './route-grants.ts';

interface RouteRowsProps {
  readonly appId: string;
  readonly name: string;
  readonly routes: PublicAddress['routes'];
  readonly permissions: PermissionsView;
  /** After a change was carried out. */
  readonly onChanged: () => Promise<void>;
}

export function RouteRows({ appId, name, routes, permissions, onChanged }: RouteRowsProps) {
  const declared = routes.map(idOf);
  return (
    <ul class="rows">
      {routes.map((route) => (
        <RouteRow
          key={idOf(route)}
          appId={appId}
          name={name}
          route={route}
          declared={declared}
          permissions={permissions}
          onChanged={onChanged}
        />
      ))}
    </ul>
  );
}

function idOf({ method, path }: PublicRouteStatus): string {
  return `${method}:${path}`;
}

interface RouteRowProps extends Omit<RouteRowsProps, 'routes'> {
  readonly route: PublicRouteStatus;
  readonly declared: readonly string[];
}

function RouteRow({ appId, name, route, declared, permissions, onChanged }: RouteRowProps) {
  const { busy, failure, run } = useAction();
  const wanted = useSignal<boolean | null>(null);
  const id = idOf(route);
  const words = routeWords(id);
  const about = `route-${declared.indexOf(id)}`;
  const granted = resourcesOf(permissions.permissions, 'endpoints.public');
  const offered = canOpen(id, resourcesOf(permissions.requested, 'endpoints.public'));
  const through = openThrough(id, declared, granted);
  const open = openPartOf(id, granted);
  const fixed = through !== undefined || (offered === 'nothing' && open.length === 0);

  async function change(turnOn: boolean): Promise<void> {
    if (busy) return;
    wanted.value = turnOn;
    await run(async () => {
      await replaceRoutes(appId, (now, requested) =>
        turnOn ? withRoute(id, now, requested) : withoutRoute(id, now, declared),
      );
      await onChanged();
    });
    wanted.value = null;
  }

  return (
    <li class="row stacked">
      <div class="row-main route">
        <button
          type="button"
          role="switch"
          class="switch"
          id={`${about}-switch`}
          aria-checked={wanted.value ?? open.length > 0}
          // Not while it is under way: it would lose the focus.
          disabled={fixed}
          aria-disabled={busy || fixed}
          aria-describedby={about}
          onClick={() => void change(open.length === 0)}
        />
        <div class="row-text">
          <label class="row-title" for={`${about}-switch`}>
            <span class="route-path">{words.path}</span>{' '}
            {words.method !== null && <span class="tag">{words.method}</span>}
          </label>
          <div class="row-about" id={about}>
            {busy ? (
              <p>{wanted.value === true ? 'Opening …' : 'Closing …'}</p>
            ) : (
              <State state={route.state} name={name} open={open} through={through} offered={offered} />
            )}
          </div>
        </div>
        {route.state === 'partly' && offered === 'all' && (
          <Button busy={busy} onClick={() => void change(true)}>
            Open all of it
          </Button>
        )}
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}

interface StateProps {
  readonly state: PublicRouteStatus['state'];
  readonly name: string;
  readonly open: readonly string[];
  readonly through: string | undefined;
  readonly offered: ReturnType<typeof canOpen>;
}

function State({ state, name, open, through, offered }: StateProps) {
  if (through !== undefined) return <p>Open through “{routeInWords(through)}”. Close that to close this too.</p>;
  switch (state) {
    case 'open':
      return <p>Open</p>;
    case 'no-backend':
      return <p>Allowed, but closed: the backend of {name} is off.</p>;
    case 'partly':
      return (
        <>
          <p>
            <span class="tag warning">Partly open</span> {offered === 'part' ? `${name} requested` : 'You allowed'}{' '}
            only:
          </p>
          <ul class="open-part">
            {open.map((part) => (
              <li key={part}>{routeInWords(part)}</li>
            ))}
          </ul>
        </>
      );
    case 'not-granted':
      return offered === 'nothing' ? (
        <p>Closed: {name} did not request the permission for it.</p>
      ) : (
        <p>Closed. Requests to it get “not found”.</p>
      );
  }
}

/** Reads the grants anew, so that a change made elsewhere meanwhile is kept. */
async function replaceRoutes(
  appId: string,
  next: (granted: readonly string[], requested: readonly string[]) => readonly string[],
): Promise<void> {
  const params = { appId };
  const { permissions, requested } = await call('apps.permissions.read', { params });
  const resources = next(resourcesOf(permissions, 'endpoints.public'), resourcesOf(requested, 'endpoints.public'));
  const others = permissions.filter(({ id }) => id !== 'endpoints.public');
  const own = resources.length === 0 ? [] : [{ id: 'endpoints.public' as const, resources: [...resources] }];
  const after = await call('apps.permissions.replace', { params, body: { permissions: joinGrants(others, own) } });
  grantsChanged(appId, after.permissions);
}
