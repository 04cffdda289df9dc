// The review of an app that an app made: what it may do, its source, and for a new version what changed. It is exactly this package
// that is installed.
import {
  type AcceptDraft,
  type Grant,
  noResources,
  type PermissionsView,
  type RequestedGrant,
  type DraftReview as Review,
  resourcesBeyond,
  type SecretBinding,
  type UnmetNeed,
} from '@platform/contract';
import { type Signal, useSignal } from '@preact/signals';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { findApp, nameOf, refreshInstalledApps } from '../../apps/installed-apps.ts';
import { Button, Note } from '../../design/controls.tsx';
import { shortVersion } from '../../design/words.ts';
import { useDraft } from '../../session/drafts.ts';
import { type Asked, carriedOut } from '../prompts/ask.tsx';
import { carryOut, carryOutOnApps, INSTALL_TIMEOUT_MS } from '../prompts/carry-out.ts';
import { Changes } from '../prompts/changes.tsx';
import { grantChosen } from '../prompts/grant-chosen.ts';
import { Installed } from '../prompts/installed.tsx';
import { grantsOf, presentChoice, proposedChoice } from '../prompts/narrowing.ts';
import { newRequests } from '../prompts/new-requests.ts';
import { AskerLine, Decision } from '../prompts/parts.tsx';
import { PermissionList } from '../prompts/permission-list.tsx';
import { chosenRating, presentRating, updatedRating } from '../prompts/rated.ts';
import { RatingSummary } from '../prompts/rating-summary.tsx';
import { BackendSummary, ResourceList } from '../prompts/resource-list.tsx';
import { asksForNothing } from '../prompts/resource-words.ts';
import { ScrollBox } from '../prompts/scroll-box.tsx';
import { upgradesDone } from '../prompts/upgrade-review.tsx';
import { SlotPlace } from '../secrets/slot-choice.tsx';
import { UnmetList } from '../unmet/unmet-list.tsx';
import { DraftPreview } from './draft-preview.tsx';
import { SourceView } from './source-view.tsx';

interface Matter {
  readonly draft: Review;
  /** Of the installed version; `null` for a new app. */
  readonly held: PermissionsView | null;
  /** Of the installed version. */
  readonly bindings: readonly SecretBinding[];
  /** What of it cannot work here. */
  readonly unmet: readonly UnmetNeed[];
}

type Slot = Review['secretSlots'][number];

/** Kept when the question goes without an answer of the person's. */
interface Chosen {
  readonly permissions: readonly Grant[];
  readonly acceptResources: boolean;
}

export function DraftReview({ asked }: { readonly asked: Asked & Matter }) {
  const { draft, held, bindings, unmet } = asked;
  const { id, name, version, madeBy, installed } = draft;
  const requested = held === null ? draft.permissions : newRequests(draft.permissions, held);
  const granted = held?.resources?.granted ?? null;
  const larger =
    held !== null && draft.resources !== null && resourcesBeyond(granted ?? noResources, draft.resources).length > 0;
  const proposed = { permissions: grantsOf(proposedChoice(requested)), acceptResources: larger };
  const chosen = useDraft<Chosen>(`made ${id}`, proposed, { secret: true });
  const { permissions, acceptResources } = chosen.value;
  // A declaration that the installed version has too was reviewed with it, and its secret goes on being sent.
  const isKnown = ({ declarationHash }: Slot) =>
    bindings.some((binding) => binding.declarationHash === declarationHash);
  const slots = draft.secretSlots.filter((slot) => !isKnown(slot));
  const used = bindings.filter(
    ({ secret, declarationHash }) =>
      secret !== null && draft.secretSlots.some((slot) => slot.declarationHash === declarationHash),
  );
  /** The version is here: what failed afterwards can be tried again, and this is not done twice. */
  const accepted = useSignal(false);
  const stage = useSignal<'review' | 'preview' | 'working' | 'declining' | 'done'>('review');
  const failure = useSignal<string | null>(null);
  const working = stage.value !== 'review';

  async function approve(): Promise<void> {
    stage.value = 'working';
    failure.value = await accept(draft, { held, accepted, shown: requested, ...chosen.value });
    if (failure.value !== null) stage.value = 'review';
    else if (held === null) stage.value = 'done';
    else end(true);
  }

  async function decline(): Promise<void> {
    stage.value = 'declining';
    failure.value = await carryOut(() => call('account.drafts.decline', { params: { id } }));
    stage.value = 'review';
    if (failure.value === null) end(false);
  }

  function leavePreview(): void {
    stage.value = 'review';
    // To the refusal, as when the question began.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.prompt [data-default]')?.focus());
  }

  function end(approved: boolean): void {
    chosen.drop();
    asked.answer(approved);
  }

  if (stage.value === 'done') return <Installed app={{ ...draft, icon: null }} onDone={() => end(true)} />;
  if (stage.value === 'preview') return <DraftPreview draft={draft} onBack={leavePreview} />;
  const maker = nameOf(madeBy);
  return (
    <>
      <AskerLine asker={asked.asker} wants="made this for you:" />
      <div class="prompt-app">
        <AppPicture appId={draft.appId} name={name} path={null} size="large" />
        <div>
          <h2 id="prompt-title">{installed === null ? `Add ${name}?` : `Change ${name}?`}</h2>
          <p class="prompt-publisher">
            <span>Made by {maker}, for you alone</span>
            <span>
              {installed === null
                ? `Version ${shortVersion(version)}`
                : `From ${shortVersion(installed)} to ${shortVersion(version)}`}
            </span>
          </p>
        </div>
      </div>
      {held === null ? (
        <RatingSummary rated={chosenRating(draft, permissions)} whole={chosenRating(draft, draft.permissions)} />
      ) : (
        <RatingSummary
          rated={updatedRating(draft, held, chosen.value)}
          before={presentRating(held, held.permissions)}
          whole={updatedRating(draft, held, { permissions: requested, acceptResources: larger })}
        />
      )}
      {held === null && <BackendSummary resources={draft.resources} />}
      <ScrollBox label={`What ${name} asks for, and its source`}>
        <UnmetList name={name} needs={unmet} />
        <p>{draft.summary}</p>
        {draft.hasFrontend && (
          <p>
            <Button icon="play" disabled={working} onClick={() => (stage.value = 'preview')}>
              Try its page
            </Button>
          </p>
        )}
        {held === null && slots.length === 0 && asksForNothing(requested, draft.resources) && (
          <Note tone="success">It requests no permissions.</Note>
        )}
        {requested.length > 0 && (
          <>
            <h3>{held === null ? `${name} will be able to` : `New: ${name} also wants to`}</h3>
            <PermissionList
              requested={requested}
              choice={presentChoice(requested, permissions)}
              disabled={working}
              onChange={(next) => chosen.put({ ...chosen.value, permissions: grantsOf(next) })}
            />
          </>
        )}
        {used.length > 0 && (
          <>
            <h3>Secrets it goes on using</h3>
            <ul>
              {used.map(({ slot, secret }) => (
                <li key={slot}>
                  Your secret {secret}, for slot “{slot}”
                </li>
              ))}
            </ul>
          </>
        )}
        {slots.length > 0 && (
          <>
            <h3>{held === null ? 'Secrets it can use without seeing them' : 'New: where it wants to use a secret'}</h3>
            {slots.map((slot) => (
              <div key={slot.name} class="slot-review">
                <SlotPlace slot={slot} />
              </div>
            ))}
            <p class="quiet-text">Nothing is sent until you choose a secret in Settings → Apps → {name}.</p>
          </>
        )}
        {draft.resources !== null && (held === null || larger) && (
          <>
            <h3>{larger && granted !== null ? 'New: more of the server' : 'Its backend on the server'}</h3>
            <ResourceList resources={draft.resources} {...(granted !== null && { beyond: granted })} />
          </>
        )}
        {larger && (
          <label class="accept-resources">
            <input
              type="checkbox"
              checked={acceptResources}
              disabled={working}
              onChange={(event) => chosen.put({ ...chosen.value, acceptResources: event.currentTarget.checked })}
            />
            <span>Allow this</span>
          </label>
        )}
        <Changes version={version} changes={draft.changes} />
        <SourceView draft={draft} />
        <p class="source-decline">
          <Button
            busy={stage.value === 'declining'}
            disabled={working || accepted.value}
            icon="trash"
            onClick={() => void decline()}
          >
            Throw it away
          </Button>
        </p>
      </ScrollBox>
      <p class="quiet-text">
        {installed === null
          ? 'Only you can see and use it. You can remove it in Settings.'
          : 'It keeps its data and permissions. You can go back to the version before in Settings.'}
      </p>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      <Decision
        no="Not now"
        yes={stage.value === 'working' ? 'Working …' : installed === null ? `Add ${name}` : `Change ${name}`}
        busy={working}
        disabled={unmet.some(({ kind }) => kind === 'blocks')}
        onNo={() => end(accepted.value)}
        onYes={() => void approve()}
      />
    </>
  );
}

interface Acceptance extends Chosen {
  readonly held: PermissionsView | null;
  /** Whether core has accepted it, now or at an attempt before. */
  readonly accepted: Signal<boolean>;
  readonly shown: readonly RequestedGrant[];
}

/** For a new version, what it asks for besides is granted as after an update. @returns what went wrong */
function accept(draft: Review, acceptance: Acceptance): Promise<string | null> {
  const { held, accepted, shown, permissions, acceptResources } = acceptance;
  const { appId, version, hash } = draft;
  return carryOutOnApps(async () => {
    if (!accepted.value) await acceptOnce(draft, held === null ? { hash, permissions: [...permissions] } : { hash });
    accepted.value = true;
    // Closing the review is no refusal any more.
    carriedOut.value = true;
    if (held === null) return;
    if (acceptResources) await call('apps.upgrade', { params: { appId }, body: { version, acceptResources } });
    closeApp(appId);
    await grantChosen(appId, { held, shown, chosen: permissions });
  }).finally(() => {
    upgradesDone.value += 1;
  });
}

/** An answer that was lost on its way leaves a draft that is gone, and its version installed. */
async function acceptOnce({ id, appId, version }: Review, body: AcceptDraft): Promise<void> {
  try {
    await call('account.drafts.accept', { params: { id }, body, timeoutMs: INSTALL_TIMEOUT_MS });
  } catch (error) {
    const isGone = error instanceof ApiError && error.code === 'not_found';
    if (!isGone) throw error;
    await refreshInstalledApps();
    if (findApp(appId)?.version !== version) throw error;
  }
}
