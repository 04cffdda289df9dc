// What people know an app by, where another version changes it: its name and picture, as they are and as they become.
import type { CatalogDetail } from '@platform/contract';
import { AppPicture } from '../../apps/app-picture.tsx';
import { Note } from '../../design/controls.tsx';

/** Nothing where the version looks like the installed one. */
export function NewLook({ detail }: { readonly detail: CatalogDetail }) {
  const { appId, installed } = detail;
  if (installed === null) return null;
  const renamed = installed.name !== detail.name;
  if (!renamed && installed.sameIcon) return null;
  const what = !renamed ? 'picture' : installed.sameIcon ? 'name' : 'name and picture';
  return (
    <section class="new-look" aria-labelledby="new-look-title">
      <h3 id="new-look-title">New: another {what}</h3>
      <dl>
        <Look when="Now" appId={appId} look={installed} />
        <Look when="Then" appId={appId} look={detail} />
      </dl>
      <Note tone="warning">
        Your data and permissions stay with it. Continue only if this is still the app you mean.
      </Note>
    </section>
  );
}

interface LookProps {
  readonly when: string;
  readonly appId: string;
  readonly look: Pick<CatalogDetail, 'name' | 'icon'>;
}

function Look({ when, appId, look: { name, icon } }: LookProps) {
  return (
    <div>
      <dt>{when}</dt>
      <dd>
        <AppPicture appId={appId} name={name} path={icon} />
        {name}
      </dd>
    </div>
  );
}
