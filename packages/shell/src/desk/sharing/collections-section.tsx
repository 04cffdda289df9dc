// The collections of the person, and those that others share with them: which apps use them, who else has them, and how to end it.
import type { AccountCollection, ContentMember, ContentRole } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call, everyItem } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { TypedConfirm } from '../../design/typed-confirm.tsx';
import { count, onDay } from '../../design/words.ts';

const ROLES: Readonly<Record<ContentRole, string>> = {
  owner: 'owner',
  manager: 'reads, changes, and decides who else may',
  editor: 'reads and changes',
  viewer: 'reads',
};

const YOURS: Readonly<Record<ContentRole, string>> = {
  owner: 'Yours',
  manager: 'You can read and change it, and decide who else may',
  editor: 'You can read and change it',
  viewer: 'You can read it',
};

export interface Collections {
  readonly value: readonly AccountCollection[] | null;
  readonly again: () => Promise<void>;
}

export function CollectionsSection({ collections: { value, again } }: { readonly collections: Collections }) {
  const own = value?.filter(({ role }) => role === 'owner') ?? [];
  const others = value?.filter(({ role }) => role !== 'owner') ?? [];
  const list = (some: readonly AccountCollection[]) => (
    <ul class="rows">
      {some.map((one) => (
        <CollectionRow key={one.id} collection={one} all={value ?? []} again={again} />
      ))}
    </ul>
  );
  return (
    <>
      {others.length > 0 && (
        <section class="block" aria-labelledby="others-title">
          <h3 id="others-title">Shared with you</h3>
          {list(others)}
        </section>
      )}
      <section class="block" aria-labelledby="own-title">
        <h3 id="own-title">Your collections</h3>
        {value === null ? (
          <Skeleton lines={2} label="Loading collections" />
        ) : own.length > 0 ? (
          list(own)
        ) : (
          <p class="quiet-text">
            No collections. Lists and other collections that your apps make are here, whether you share them or not.
          </p>
        )}
      </section>
    </>
  );
}

interface RowProps {
  readonly collection: AccountCollection;
  /** To say which one it lies in. */
  readonly all: readonly AccountCollection[];
  readonly again: () => Promise<void>;
}

function CollectionRow({ collection, all, again }: RowProps) {
  const { id, name, role, items, members, endsAt, memberId } = collection;
  const { busy, failure, run } = useAction();
  const asking = useSignal(false);
  const opened = useSignal(false);
  const isOwn = role === 'owner';

  async function end(): Promise<void> {
    const work = isOwn
      ? () => call('account.collections.delete', { params: { id } })
      : () => call('account.collections.members.remove', { params: { id, memberId: memberId ?? '' } });
    if (await run(work)) await again();
  }

  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="link" />
        </span>
        <span class="row-text">
          <span class="row-title">{name}</span>
          <span class="row-about">{aboutOf(collection, all)}</span>
        </span>
        {!asking.value && (isOwn || memberId !== null) && (
          <Button icon={isOwn ? 'trash' : 'leave'} onClick={() => (asking.value = true)}>
            {isOwn ? 'Delete' : 'Leave'}
            <span class="only-read"> {name}</span>
          </Button>
        )}
      </div>
      {endsAt !== null && (
        <Note tone="info">
          Its owner’s account was deleted. You and your apps can read it until {onDay(endsAt)}; copy what you want to
          keep.
        </Note>
      )}
      {asking.value && isOwn && (
        <TypedConfirm
          word="delete"
          action="Delete collection"
          busy={busy}
          onConfirm={() => void end()}
          onCancel={() => (asking.value = false)}
        >
          <p>
            {name} is deleted with {count(items, 'item')} and with the collections in it
            {members > 0 && `, also for ${members === 1 ? 'one other person' : `${members} other people`}`}. You can’t
            undo this.
          </p>
        </TypedConfirm>
      )}
      {asking.value && !isOwn && (
        <>
          <p>You and your apps lose {name}. Others keep it, and can invite you again.</p>
          <div class="buttons">
            <Button kind="danger" busy={busy} onClick={() => void end()}>
              Leave
            </Button>
            <Button onClick={() => (asking.value = false)}>Cancel</Button>
          </div>
        </>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <details class="shared-with" onToggle={({ currentTarget }) => (opened.value = currentTarget.open)}>
        <summary>
          Who has it<span class="only-read">: {name}</span>
        </summary>
        {opened.value && <Members collection={collection} onRemoved={again} />}
      </details>
    </li>
  );
}

function aboutOf({ role, owner, items, apps, parentId }: AccountCollection, all: readonly AccountCollection[]): string {
  const parent = all.find(({ id }) => id === parentId);
  const using = apps.length === 0 ? 'no app of yours' : apps.map(nameOf).join(', ');
  return [
    role === 'owner' ? null : `${owner === null ? 'From a deleted account' : `From ${owner}`} · ${YOURS[role]}`,
    parent === undefined ? null : `in ${parent.name}`,
    count(items, 'item'),
    `used by ${using}`,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

function Members({
  collection: { id, role, memberId },
  onRemoved,
}: {
  readonly collection: AccountCollection;
  readonly onRemoved: () => Promise<void>;
}) {
  const reading = useReading(() =>
    everyItem((cursor) => call('account.collections.members', { params: { id }, query: { limit: 200, cursor } })),
  );
  const decides = role === 'owner' || role === 'manager';
  if (reading.failure !== null) return <Note tone="danger">{reading.failure}</Note>;
  if (reading.value === null) return <Skeleton lines={2} label="Loading who has it" />;
  return (
    <ul class="shared-with-list">
      {reading.value.map((member) => (
        <MemberRow
          key={member.id}
          collectionId={id}
          member={member}
          isRemovable={decides && member.role !== 'owner' && member.id !== memberId}
          onRemoved={async () => {
            await reading.again();
            await onRemoved();
          }}
        />
      ))}
    </ul>
  );
}

interface MemberProps {
  readonly collectionId: string;
  readonly member: ContentMember;
  readonly isRemovable: boolean;
  readonly onRemoved: () => Promise<void>;
}

function MemberRow({ collectionId, member: { id, address, role }, isRemovable, onRemoved }: MemberProps) {
  const { busy, failure, run } = useAction();
  const remove = () => call('account.collections.members.remove', { params: { id: collectionId, memberId: id } });
  return (
    <li>
      <div class="row-main">
        <span class="row-text">
          <span>{address}</span>
          <span class="row-about">{ROLES[role]}</span>
        </span>
        {isRemovable && (
          <Button busy={busy} onClick={() => void run(remove).then((done) => (done ? onRemoved() : undefined))}>
            Remove<span class="only-read"> {address}</span>
          </Button>
        )}
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
