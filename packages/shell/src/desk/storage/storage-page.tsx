// What the account takes of the platform's disk, and deleting what it no longer needs.
import type { AccountDisk } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { byName } from '../../apps/arrange.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { Icon, type IconName } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { TypedConfirm } from '../../design/typed-confirm.tsx';
import { isOlder, onDay, shortVersion, sizeText } from '../../design/words.ts';
import { deleteData } from './delete-data.ts';

/** Volumes are deleted on their machines, which takes a moment, or until the machine is back. */
const EVERY_MS = 2_000;

export function StoragePage() {
  const reading = useReading(() => call('disk.read'));
  const disk = reading.value;
  const waits = disk?.volumes.some(({ deleting }) => deleting) === true;
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => {
      if (!document.hidden) void reading.again();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [waits]);
  return (
    <>
      <PageHead title="Storage">
        <p class="quiet-text">
          An app’s volume counts with the size the app asked for, and is kept when you remove the app. Packages you
          published count too, and so do container images, which go with their apps.
        </p>
      </PageHead>
      {reading.failure !== null && <Note tone="danger">{reading.failure}</Note>}
      {disk === null ? (
        reading.failure === null && <Skeleton lines={3} label="Loading storage" />
      ) : (
        <>
          <Total disk={disk} />
          {disk.volumes.length + disk.packages.length + disk.images.length === 0 && (
            <Empty icon="box" title="Nothing takes storage yet">
              What apps with a backend keep, and packages you publish, appear here with their size.
            </Empty>
          )}
          <Items title="App data" disk={disk} again={reading.again} kind="volumes" />
          <Items title="Published packages" disk={disk} again={reading.again} kind="packages" />
          <Items title="Images of apps" disk={disk} again={reading.again} kind="images" />
        </>
      )}
    </>
  );
}

function Total({ disk: { usedBytes, limitBytes } }: { readonly disk: AccountDisk }) {
  return (
    <section class="block">
      <p>
        {sizeText(usedBytes)} of {sizeText(limitBytes)} used
      </p>
      <div class="storage-bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(100, (100 * usedBytes) / Math.max(1, limitBytes))}%` }} />
      </div>
      {usedBytes >= limitBytes && (
        <Note tone="danger">Your storage is full. Delete data of removed apps or packages to make space.</Note>
      )}
    </section>
  );
}

const itemsOf = {
  volumes: ({ volumes }: AccountDisk): readonly Item[] => volumes.toSorted(byName).map(volumeItem),
  packages: ({ packages }: AccountDisk): readonly Item[] => packages.toSorted(byVersion).map(packageItem),
  images: ({ images }: AccountDisk): readonly Item[] => images.toSorted(byName).map(imageItem),
};

interface ItemsProps {
  readonly title: string;
  readonly disk: AccountDisk;
  readonly kind: keyof typeof itemsOf;
  readonly again: () => Promise<void>;
}

function Items({ title, disk, kind, again }: ItemsProps) {
  if (disk[kind].length === 0) return null;
  const rows = itemsOf[kind](disk);
  return (
    <section class="block">
      <h3>{title}</h3>
      <ul class="rows">
        {rows.map((item) => (
          <ItemRow key={item.key} item={item} again={again} />
        ))}
      </ul>
    </section>
  );
}

/** By app, the newest version first. */
function byVersion(one: AccountDisk['packages'][number], other: AccountDisk['packages'][number]): number {
  if (one.appId !== other.appId) return byName({ name: one.appId }, { name: other.appId });
  return isOlder(one.version, other.version) ? 1 : -1;
}

interface Item {
  readonly key: string;
  readonly icon: IconName;
  readonly title: string;
  readonly about: string;
  /** `null` while it is in use. */
  readonly remove: (() => Promise<unknown>) | null;
  readonly question: string;
  /** To be typed before it is removed; `null` for what can be published again. */
  readonly typed: string | null;
}

function volumeItem({ appId, name, bytes: size, installed, deleting }: AccountDisk['volumes'][number]): Item {
  return {
    key: appId,
    icon: 'disk',
    title: name,
    about: `${size === 0 ? 'object storage' : sizeText(size)} · ${deleting ? 'being deleted' : installed ? 'installed' : 'removed'}`,
    remove: deleting ? null : () => deleteData(appId),
    question: installed
      ? `${name} stops, loses everything it stored, and starts empty. You can’t undo this.`
      : `Everything that ${name} stored is deleted. You can’t undo this.`,
    typed: name,
  };
}

function packageItem({ appId, version, bytes: size, installed, keptUntil }: AccountDisk['packages'][number]): Item {
  const use = installed
    ? ' · installed'
    : keptUntil === null
      ? ''
      : ` · people who updated from it can go back until ${onDay(keptUntil)}`;
  return {
    key: `${appId} ${version}`,
    icon: 'upgrade',
    title: `${appId} ${shortVersion(version)}`,
    about: `${sizeText(size)}${use}`,
    remove: installed || keptUntil !== null ? null : () => call('catalog.withdraw', { params: { appId, version } }),
    question: `Delete version ${shortVersion(version)} of ${appId} from the Store?`,
    typed: null,
  };
}

function imageItem({ appId, name, bytes: size }: AccountDisk['images'][number]): Item {
  return {
    ...{ key: appId, icon: 'box', title: name, about: `${sizeText(size)} · installed` },
    ...{ remove: null, question: '', typed: null },
  };
}

function ItemRow({ item, again }: { readonly item: Item; readonly again: () => Promise<void> }) {
  const { busy, failure, run } = useAction();
  const asking = useSignal(false);
  const { remove } = item;

  async function confirmed(): Promise<void> {
    if (remove === null || !(await run(remove))) return;
    asking.value = false;
    await again();
  }

  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name={item.icon} />
        </span>
        <span class="row-text">
          <span class="row-title">{item.title}</span>
          <span class="row-about">{item.about}</span>
        </span>
        {remove !== null && !asking.value && (
          <Button icon="trash" onClick={() => (asking.value = true)}>
            Delete
          </Button>
        )}
      </div>
      {remove !== null && asking.value && item.typed !== null && (
        <TypedConfirm
          word={item.typed}
          action="Delete its data"
          busy={busy}
          onConfirm={() => void confirmed()}
          onCancel={() => (asking.value = false)}
        >
          <p>{item.question}</p>
        </TypedConfirm>
      )}
      {remove !== null && asking.value && item.typed === null && (
        <>
          <p>{item.question}</p>
          <div class="buttons">
            <Button kind="danger" busy={busy} onClick={() => void confirmed()}>
              Delete
            </Button>
            <Button onClick={() => (asking.value = false)}>Cancel</Button>
          </div>
        </>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
