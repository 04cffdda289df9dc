// The review before an installation: what the app is, who published it, and what it may do if the person agrees.
import type { CatalogDetail, Grant, UnmetNeed } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { useDraft } from '../../session/drafts.ts';
import { type Draft, missingIn, NEW, NO_DRAFT, nameOf } from '../secrets/draft.ts';
import { saveDraft } from '../secrets/save-draft.ts';
import { SlotChoice, SlotPlace } from '../secrets/slot-choice.tsx';
import { UnmetList } from '../unmet/unmet-list.tsx';
import type { Asked } from './ask.tsx';
import { carryOutOnApps, INSTALL_TIMEOUT_MS } from './carry-out.ts';
import { Installed } from './installed.tsx';
import { grantsOf, presentChoice, proposedChoice } from './narrowing.ts';
import { AskerLine, Decision, Publisher } from './parts.tsx';
import { PermissionList } from './permission-list.tsx';
import { chosenRating } from './rated.ts';
import { RatingSummary } from './rating-summary.tsx';
import { BackendSummary, ResourceList } from './resource-list.tsx';
import { asksForNothing } from './resource-words.ts';
import { ScrollBox } from './scroll-box.tsx';

interface Installation {
  readonly detail: CatalogDetail;
  readonly version: string;
  /** Names of the account's secrets, where the app has a use for one. */
  readonly secrets: readonly string[];
  /** What of it cannot work here. */
  readonly unmet: readonly UnmetNeed[];
}

/** Kept when the question goes without an answer of the person's. */
interface Typed {
  readonly permissions: readonly Grant[];
  /** By the name of the slot. */
  readonly slots: Readonly<Record<string, Draft>>;
}

type InstallPrompt = Asked & Installation;

function install(appId: string, version: string, permissions: readonly Grant[]): Promise<string | null> {
  const body = { appId, version, permissions: [...permissions] };
  return carryOutOnApps(() => call('apps.install', { body, timeoutMs: INSTALL_TIMEOUT_MS }));
}

export function InstallReview({ asked }: { readonly asked: InstallPrompt }) {
  const { detail, version } = asked;
  const typed = useDraft<Typed>(
    `install ${detail.appId} ${version}`,
    { permissions: grantsOf(proposedChoice(detail.permissions)), slots: {} },
    { secret: true },
  );
  const choice = presentChoice(detail.permissions, typed.value.permissions);
  const stage = useSignal<'review' | 'working' | 'done'>('review');
  const failure = useSignal<string | null>(null);
  const draftOf = (slot: string) => typed.value.slots[slot] ?? NO_DRAFT;
  /** What could not be bound after the app was installed. */
  const unbound = useSignal<string | null>(null);

  async function approve(): Promise<void> {
    failure.value = firstMissing();
    if (failure.value !== null) return;
    stage.value = 'working';
    failure.value = await install(detail.appId, version, grantsOf(choice));
    if (failure.value === null) await bindAll();
    stage.value = failure.value === null ? 'done' : 'review';
  }

  function firstMissing(): string | null {
    const added: string[] = [];
    for (const { name } of detail.secretSlots) {
      const draft = draftOf(name);
      const missing = missingIn(draft, [...asked.secrets, ...added]);
      if (missing !== null) return missing;
      if (draft.secret === NEW) added.push(nameOf(draft.newName));
    }
    return null;
  }

  async function bindAll(): Promise<void> {
    try {
      for (const slot of detail.secretSlots) await saveDraft(detail.appId, slot, draftOf(slot.name));
    } catch (error) {
      unbound.value = plainMessage(error);
    }
    typed.drop();
  }

  if (stage.value === 'done')
    return (
      <Installed app={detail} onDone={() => asked.answer(true)}>
        {unbound.value !== null && (
          <Note tone="warning">
            A secret could not be set: {unbound.value} Choose it in Settings → Apps → {detail.name}.
          </Note>
        )}
      </Installed>
    );
  const working = stage.value === 'working';
  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to install an app:" />
      <div class="prompt-app">
        <AppPicture appId={detail.appId} name={detail.name} path={detail.icon} size="large" />
        <div>
          <h2 id="prompt-title">Install {detail.name}?</h2>
          <Publisher name={detail.publisher} version={version} />
        </div>
      </div>
      <RatingSummary rated={chosenRating(detail, grantsOf(choice))} whole={chosenRating(detail, detail.permissions)} />
      <BackendSummary resources={detail.resources} />
      <ScrollBox label={`What ${detail.name} asks for`}>
        <UnmetList name={detail.name} needs={asked.unmet} />
        <p>{detail.summary}</p>
        {detail.secretSlots.length === 0 && asksForNothing(detail.permissions, detail.resources) && (
          <Note tone="success">It requests no permissions.</Note>
        )}
        {detail.permissions.length > 0 && (
          <>
            <h3>{detail.name} will be able to</h3>
            <PermissionList
              requested={detail.permissions}
              choice={choice}
              disabled={working}
              onChange={(next) => typed.put({ ...typed.value, permissions: grantsOf(next) })}
            />
            <p class="quiet-text">Turn off what you don’t want. You can change this later in Settings.</p>
          </>
        )}
        {detail.secretSlots.length > 0 && (
          <>
            <h3>Secrets it can use without seeing them</h3>
            {detail.secretSlots.map((slot) => (
              <div key={slot.name} class="slot-review">
                <SlotPlace slot={slot} />
                <SlotChoice
                  slot={slot}
                  secrets={asked.secrets}
                  draft={draftOf(slot.name)}
                  disabled={working}
                  onChange={(draft) =>
                    typed.put({ ...typed.value, slots: { ...typed.value.slots, [slot.name]: draft } })
                  }
                />
              </div>
            ))}
            <p class="quiet-text">You can install without a secret and choose one later in Settings.</p>
          </>
        )}
        {detail.resources !== null && (
          <>
            <h3>Its backend on the server</h3>
            <ResourceList resources={detail.resources} />
          </>
        )}
        {detail.hasWorkload && (
          <p class="quiet-text with-icon">
            <Icon name="lock" size={16} />
            Its backend runs on this server, isolated from your other apps.
          </p>
        )}
      </ScrollBox>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      {working && <p class="only-read" role="status">{`Installing ${detail.name}`}</p>}
      <Decision
        no="Don’t install"
        yes={working ? 'Installing …' : 'Install'}
        busy={working}
        disabled={asked.unmet.some(({ kind }) => kind === 'blocks')}
        onNo={() => {
          typed.drop();
          asked.answer(false);
        }}
        onYes={() => void approve()}
      />
    </>
  );
}
