// What an app offers to the internet: its address, each route with its switch, its UDP ports, and today's requests.
import { addressOf, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { usePolling } from '../../api/use-polling.ts';
import { AppsNotListed } from '../../apps/apps-not-listed.tsx';
import { findApp, installedApps } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { AddressCard } from './address-card.tsx';
import { BackendLine } from './backend-line.tsx';
import { PortRows } from './port-rows.tsx';
import { RouteRows } from './route-rows.tsx';
import { TodaysRequests } from './todays-requests.tsx';

const EVERY_MS = 5_000;

export function InternetPage({ appId }: { readonly appId: string }) {
  if (installedApps.value === null) return <AppsNotListed lines={5} label="Loading the app" />;
  const app = findApp(appId);
  const up = { href: addressOf(settingsAt('apps/:appId', { appId })), label: app?.name ?? 'App' };
  return (
    <>
      <PageHead title="On the internet" up={up}>
        {app !== undefined && (
          <p class="quiet-text">
            Anyone can reach what you leave open here, without signing in to the platform. {app.name} itself has to
            check who they are.
          </p>
        )}
      </PageHead>
      {app === undefined ? (
        <Empty icon="box" title={`“${appId}” is not installed`}>
          It may have been removed. You can install it again in the Store; its data is kept.
        </Empty>
      ) : (
        <Offered appId={appId} name={app.name} runs={app.hasWorkload} />
      )}
    </>
  );
}

interface OfferedProps {
  readonly appId: string;
  readonly name: string;
  /** It has a backend that may run. */
  readonly runs: boolean;
}

function Offered({ appId, name, runs }: OfferedProps) {
  const params = { appId };
  const reading = useReading(async () => {
    const [address, permissions, status, requests] = await Promise.all([
      call('apps.public', { params }),
      call('apps.permissions.read', { params }),
      runs ? call('apps.status', { params }) : null,
      call('apps.publicRequests', { params }),
    ]);
    return { address, permissions, status, requests };
  });
  usePolling(reading.again, EVERY_MS);
  const { value, failure } = reading;
  if (value === null) {
    if (failure === null) return <Skeleton lines={4} label="Loading what is open" />;
    return (
      <>
        <Note tone="danger">{failure}</Note>
        <div class="buttons">
          <Button icon="refresh" onClick={() => void reading.again()}>
            Try again
          </Button>
        </div>
      </>
    );
  }
  const { address, permissions, status, requests } = value;
  if (address.routes.length === 0 && address.ports.length === 0) {
    return (
      <Empty icon="globe" title={`${name} offers nothing to the internet`}>
        There is nothing to open or close here. An update of {name} may add routes or ports.
      </Empty>
    );
  }
  return (
    <>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {address.url !== null && <AddressCard appId={appId} name={name} url={address.url} onRenewed={reading.again} />}
      <BackendLine
        appId={appId}
        name={name}
        status={status}
        held={[...address.routes, ...address.ports].some(({ state }) => state === 'no-backend')}
        wakes={address.routes.length > 0}
      />
      {address.routes.length > 0 && (
        <section class="block" aria-labelledby="routes-title">
          <h3 id="routes-title">Routes</h3>
          <p class="quiet-text">Changes apply immediately. Closing a route ends its open connections.</p>
          <RouteRows
            appId={appId}
            name={name}
            routes={address.routes}
            permissions={permissions}
            onChanged={reading.again}
          />
        </section>
      )}
      {address.ports.length > 0 && (
        <section class="block" aria-labelledby="udp-title">
          <h3 id="udp-title">UDP ports</h3>
          <PortRows name={name} ports={address.ports} />
        </section>
      )}
      {address.routes.length > 0 && <TodaysRequests requests={requests} />}
    </>
  );
}
