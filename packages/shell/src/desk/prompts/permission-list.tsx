// Permissions in plain words, each with its reason and resources, to be left on or turned off.
import { type PermissionId, permissions, type RequestedGrant } from '@platform/contract';
import { useId } from 'preact/hooks';
import { isLoopback } from '../../address/loopback.ts';
import { Icon } from '../../design/icons.tsx';
import { OutsideAddress } from '../../design/outside-address.tsx';
import { byWeight, isPowerful, permissionWords, RESOURCE_LABELS } from '../../design/permission-words.ts';
import { modelsInWords } from '../ai/ai-access.ts';
import { type Choice, offeredResources, withPermission, withResource } from './narrowing.ts';
import { portInWords, routeInWords } from './route-words.ts';

interface PermissionListProps {
  readonly requested: readonly RequestedGrant[];
  readonly choice: Choice;
  readonly onChange: (choice: Choice) => void;
  readonly disabled?: boolean;
}

/** What a resource means to a person. */
function resourceLine(id: PermissionId, resource: string): string {
  if (id === 'intelligence.use') return modelsInWords(resource);
  if (id === 'endpoints.public') return routeInWords(resource);
  if (id === 'endpoints.public.udp') return portInWords(resource);
  if (resource === '*') return 'everything';
  if (resource === 'self') return 'its own';
  return resource.endsWith('*') ? `everything starting with “${resource.slice(0, -1)}”` : resource;
}

/** What strangers can send with such a grant. */
const STRANGERS: Readonly<Partial<Record<PermissionId, string>>> = {
  'endpoints.public': 'requests',
  'endpoints.public.udp': 'packets',
};

/** What else a person should know of a grant that is on unless they turn it off. */
const EFFECTS: Readonly<Partial<Record<PermissionId, string>>> = {
  'network.connect': 'It can send what it knows to these addresses.',
  'network.public': 'It can send what it knows to any address.',
  'runtime.network-tunnel': 'It is less isolated than other apps: it can change its network interfaces.',
};

/** Before the list of where. A platform that is opened on this computer may still have a domain on the internet. */
function strangersLine(what: string): string {
  return isLoopback(location.hostname)
    ? `Any program on this computer can send ${what} to this app, and once the platform has an address on the internet, anyone there:`
    : `Anyone on the internet can send ${what} to this app at:`;
}

export function PermissionList({ requested, choice, onChange, disabled = false }: PermissionListProps) {
  return (
    <ul class="permissions">
      {requested.toSorted(byWeight).map((request) => (
        <PermissionRow key={request.id} request={request} choice={choice} onChange={onChange} disabled={disabled} />
      ))}
    </ul>
  );
}

interface PermissionRowProps extends Omit<PermissionListProps, 'requested'> {
  readonly request: RequestedGrant;
}

function PermissionRow({ request, choice, onChange, disabled = false }: PermissionRowProps) {
  const chosen = choice.get(request.id) ?? new Set<string>();
  const offered = offeredResources(request, chosen);
  const critical = isPowerful(request);
  // The review of an update stands above the list of the page below it.
  const box = useId();
  const label = RESOURCE_LABELS[permissions[request.id].resources];
  const addresses = request.id === 'network.connect';
  const strangers = STRANGERS[request.id];
  const effect = EFFECTS[request.id];
  const listed = addresses || strangers !== undefined;
  const whole = offered.length === 1 && (offered[0] === '*' || offered[0] === 'self');
  return (
    <li class={critical ? 'permission critical' : 'permission'}>
      <input
        id={box}
        type="checkbox"
        checked={chosen.size > 0}
        disabled={disabled}
        aria-describedby={`${box}-more`}
        onChange={(event) => onChange(withPermission(choice, request, event.currentTarget.checked))}
      />
      <div>
        <label for={box}>{permissionWords(request.id)}</label>
        <div id={`${box}-more`} class="permission-more">
          {critical && (
            <p class="permission-warning">
              <Icon name="warning" size={16} />
              Powerful. Turn it on only if you fully trust this app.
            </p>
          )}
          {request.reason !== undefined && <p class="permission-reason">“{request.reason}”</p>}
          {effect !== undefined && (
            <p class="with-icon">
              <Icon name="globe" size={16} />
              {effect}
            </p>
          )}
          {strangers !== undefined && (
            <p class="strangers">
              <Icon name="globe" size={16} />
              {strangersLine(strangers)}
            </p>
          )}
          {!whole && !listed && offered.length === 1 && (
            <p class="resource">
              {label}: {resourceLine(request.id, offered[0] ?? '')}
            </p>
          )}
        </div>
        {(listed || offered.length > 1) && (
          <ul class={listed ? `resources ${addresses ? 'addresses' : 'routes'}` : 'resources'} aria-label={label}>
            {offered.map((resource) => (
              <li key={resource}>
                <label>
                  <input
                    type="checkbox"
                    checked={chosen.has(resource)}
                    disabled={disabled}
                    aria-label={addresses ? resourceLine(request.id, resource) : undefined}
                    onChange={(event) =>
                      onChange(withResource(choice, request.id, resource, event.currentTarget.checked))
                    }
                  />
                  {addresses ? (
                    <OutsideAddress resource={resource} />
                  ) : (
                    <span>{resourceLine(request.id, resource)}</span>
                  )}
                </label>
              </li>
            ))}
          </ul>
        )}
        {strangers !== undefined && (
          <p class="permission-more">You can turn each of these off at any time, on the app’s page in Settings.</p>
        )}
      </div>
    </li>
  );
}
