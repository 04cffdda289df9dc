// The question before another version of an installed app takes the place of the present one, a newer or an older one.
// What it asks for beyond that comes first.
import {
  type CatalogDetail,
  type Grant,
  noResources,
  type PermissionsView,
  resourcesBeyond,
  type SecretBinding,
  type UnmetNeed,
} from '@platform/contract';
import { signal, useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { Note } from '../../design/controls.tsx';
import { isOlder, shortVersion } from '../../design/words.ts';
import { useDraft } from '../../session/drafts.ts';
import { SlotPlace } from '../secrets/slot-choice.tsx';
import { UnmetList } from '../unmet/unmet-list.tsx';
import type { Asked } from './ask.tsx';
import { carryOutOnApps, INSTALL_TIMEOUT_MS } from './carry-out.ts';
import { Changes } from './changes.tsx';
import { grantChosen } from './grant-chosen.ts';
import { grantsOf, presentChoice, proposedChoice, type Reviewed } from './narrowing.ts';
import { NewLook } from './new-look.tsx';
import { newRequests } from './new-requests.ts';
import { AskerLine, Decision, Publisher } from './parts.tsx';
import { PermissionList } from './permission-list.tsx';
import { presentRating, updatedRating } from './rated.ts';
import { RatingSummary } from './rating-summary.tsx';
import { ResourceList } from './resource-list.tsx';
import { ScrollBox } from './scroll-box.tsx';

interface Upgrade {
  readonly detail: CatalogDetail;
  readonly from: string;
  readonly version: string;
  /** What the installed version requested and was granted. */
  readonly held: PermissionsView;
  /** Of the installed version. */
  readonly bindings: readonly SecretBinding[];
  /** What of it cannot work here, of what the installed version did not ask for. */
  readonly unmet: readonly UnmetNeed[];
}

/** Kept when the question goes without an answer of the person's. */
interface Chosen {
  readonly permissions: readonly Grant[];
  readonly acceptResources: boolean;
}

/** Upgrades this page has carried out, with the grants that follow: what was read of an app before is out of date. */
export const upgradesDone = signal(0);

/** Changes the version, and then grants what the person allowed of its new requests. */
function upgrade(
  appId: string,
  version: string,
  allowed: Reviewed & { readonly acceptResources: boolean },
): Promise<string | null> {
  return carryOutOnApps(async () => {
    const body = { version, acceptResources: allowed.acceptResources };
    await call('apps.upgrade', { params: { appId }, body, timeoutMs: INSTALL_TIMEOUT_MS });
    closeApp(appId);
    await grantChosen(appId, allowed);
  }).finally(() => {
    upgradesDone.value += 1;
  });
}

export function UpgradeReview({ asked }: { readonly asked: Asked & Upgrade }) {
  const { detail, from, version, held, bindings } = asked;
  const added = newRequests(detail.permissions, held);
  // Where it is now it can stay: only what the new version asks for besides may not work.
  const unmet = asked.unmet.filter(({ kind }) => kind === 'lacks');
  const granted = held.resources?.granted ?? null;
  const larger = detail.resources !== null && resourcesBeyond(granted ?? noResources, detail.resources).length > 0;
  // A declaration that the installed version has too was reviewed with it.
  const slots = detail.secretSlots.filter(
    ({ declarationHash }) => !bindings.some((binding) => binding.declarationHash === declarationHash),
  );
  const chosen = useDraft<Chosen>(
    `upgrade ${detail.appId} ${version}`,
    { permissions: grantsOf(proposedChoice(added)), acceptResources: larger },
    { secret: true },
  );
  const { permissions, acceptResources } = chosen.value;
  const back = isOlder(version, from);
  // Until it has another name, it is known by the one it has.
  const name = detail.installed?.name ?? detail.name;
  const picture = detail.installed === null ? detail.icon : detail.installed.icon;
  const [to, present] = [shortVersion(version), shortVersion(from)];
  const working = useSignal(false);
  const failure = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = await upgrade(detail.appId, version, { held, shown: added, chosen: permissions, acceptResources });
    working.value = false;
    if (failure.value === null) end(true);
  }

  function end(approved: boolean): void {
    chosen.drop();
    asked.answer(approved);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants={`wants to ${back ? 'go back to an older version of' : 'update'} an app:`} />
      <div class="prompt-app">
        <AppPicture appId={detail.appId} name={name} path={picture} size="large" />
        <div>
          <h2 id="prompt-title">{back ? `Go back to ${name} ${to}?` : `Update ${name}?`}</h2>
          <Publisher name={detail.publisher} />
          <p class="quiet-text">
            From <code>{present}</code> to <code>{to}</code>
          </p>
        </div>
      </div>
      <RatingSummary
        rated={updatedRating(detail, held, chosen.value)}
        before={presentRating(held, held.permissions)}
        whole={updatedRating(detail, held, { permissions: added, acceptResources: larger })}
      />
      {back && (
        <Note tone="warning">
          {to} may not be able to read data that {present} wrote. {name} keeps its data as it is.
        </Note>
      )}
      <NewLook detail={detail} />
      {(added.length > 0 || larger || slots.length > 0 || unmet.length > 0 || (!back && detail.changes !== null)) && (
        <ScrollBox label={`What is new in ${to}`}>
          <UnmetList name={name} needs={unmet} />
          {added.length > 0 && (
            <>
              <h3>New: {name} also wants to</h3>
              <PermissionList
                requested={added}
                choice={presentChoice(added, permissions)}
                disabled={working.value}
                onChange={(next) => chosen.put({ ...chosen.value, permissions: grantsOf(next) })}
              />
            </>
          )}
          {slots.length > 0 && (
            <>
              <h3>New: where it wants to use a secret</h3>
              {slots.map((slot) => (
                <div key={slot.name} class="slot-review">
                  <SlotPlace slot={slot} />
                  <p>{secretLine(bindings.find((binding) => binding.slot === slot.name)?.secret ?? null, name)}</p>
                </div>
              ))}
            </>
          )}
          {larger && detail.resources !== null && (
            <>
              <h3>{granted === null ? 'New: a backend on the server' : 'New: more of the server'}</h3>
              <ResourceList resources={detail.resources} {...(granted !== null && { beyond: granted })} />
              <label class="accept-resources">
                <input
                  type="checkbox"
                  checked={acceptResources}
                  disabled={working.value}
                  onChange={(event) => chosen.put({ ...chosen.value, acceptResources: event.currentTarget.checked })}
                />
                <span>
                  Allow this
                  <span class="permission-more">
                    {granted === null
                      ? `Otherwise the backend stays off, and ${name} ${detail.hasFrontend ? 'runs without it' : 'does nothing'}.`
                      : 'Otherwise it runs with what it has now, which may be too little for it.'}
                  </span>
                </span>
              </label>
            </>
          )}
          {!back && <Changes version={version} changes={detail.changes} />}
        </ScrollBox>
      )}
      <p class="quiet-text">{keptLine(back, added.length > 0 || larger, present)}</p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Keep this version"
        yes={back ? (working.value ? 'Going back …' : `Go back to ${to}`) : working.value ? 'Updating …' : 'Update'}
        busy={working.value}
        onNo={() => end(false)}
        onYes={() => void approve()}
      />
    </>
  );
}

function keptLine(back: boolean, asksForMore: boolean, present: string): string {
  if (back) return `Permissions that only ${present} has do nothing until you update again, which you can at any time.`;
  return asksForMore
    ? 'It keeps its data and the permissions it has. You can change this later in Settings, and go back to this version.'
    : 'It keeps its data and permissions, and asks for nothing new. You can go back to this version in Settings.';
}

function secretLine(secret: string | null, app: string): string {
  return secret === null
    ? `Nothing is sent until you choose a secret in Settings → Apps → ${app}.`
    : `Your secret ${secret} is not sent after the update until you allow it in Settings → Apps → ${app}.`;
}
