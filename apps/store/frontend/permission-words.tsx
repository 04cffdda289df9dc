// What an app asks for, in the words of the review that follows.
import type { AppDetails } from '@platform/sdk/browser';
import { byWeight, isPowerful, permissionWords, resourceWords } from '@platform/shell/permission-words';

interface PermissionWordsProps {
  readonly name: string;
  readonly permissions: AppDetails['permissions'];
}

export function PermissionWords({ name, permissions }: PermissionWordsProps) {
  return (
    <section aria-labelledby="permissions-title">
      <h2 id="permissions-title">What {name} asks for</h2>
      {permissions.length === 0 ? (
        <p class="quiet">It requests no permissions.</p>
      ) : (
        <ul class="asked">
          {permissions.toSorted(byWeight).map(({ id, resources, reason }) => (
            <li key={id}>
              {permissionWords(id)}
              {isPowerful({ id, resources }) && <span class="badge warn">Powerful</span>}
              {resourceWords(id, resources) !== null && (
                <span class={`small resources${id === 'network.connect' ? ' connects' : ' quiet'}`}>
                  {resourceWords(id, resources)}
                </span>
              )}
              {reason !== undefined && <span class="quiet small reason">“{reason}”</span>}
            </li>
          ))}
        </ul>
      )}
      {permissions.length > 0 && (
        <p class="quiet small">
          Before installing, you review each of them and can turn off the ones you don’t want.
          {permissions.some(isPowerful) && ' Powerful ones are off until you turn them on.'}
        </p>
      )}
    </section>
  );
}
