// What the account takes of the platform's disk, and deleting what it no longer needs.
import type { AccountDisk, StorageUse } from '@platform/contract';
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
  // Nodes and the object store are asked, which takes longer than what the platform knows by itself.
  const use = useReading(() => call('storage.use')).value;
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
          An app’s volume is reserved in full: it counts with the size the app asked for, however much is in it, and is
          kept when you remove the app. Packages you published count with their size, and so do container images, which
          go with their apps, your files, and what you share in collections.
        </p>
      </PageHead>
      {reading.failure !== null && <Note tone="danger">{reading.failure}</Note>}
      {disk === null ? (
        reading.failure === null && <Skeleton lines={3} label="Loading storage" />
      ) : (
        <>
          <Total disk={disk} use={use} />
          {disk.volumes.length +
            disk.packages.length +
            disk.images.length +
            (use?.objects.length ?? 0) +
            disk.contentBytes ===
            0 && (
            <Empty icon="box" title="Nothing takes storage yet">
              What apps with a backend keep, and packages you publish, appear here with their size.
            </Empty>
          )}
          <Items
            title="App data"
            rows={disk.volumes.toSorted(byName).map((one) => volumeItem(one, use))}
            {...reading}
          />
          <Objects use={use} />
          <Items title="Published packages" rows={disk.packages.toSorted(byVersion).map(packageItem)} {...reading} />
          <Items title="Images of apps" rows={disk.images.toSorted(byName).map(imageItem)} {...reading} />
          {disk.contentBytes > 0 && (
            <section class="block">
              <h3>Files and collections</h3>
              <p>{sizeText(disk.contentBytes)}, with what your apps keep in files of their own.</p>
            </section>
          )}
        </>
      )}
    </>
  );
}

interface TotalProps {
  readonly disk: AccountDisk;
  readonly use: StorageUse | null;
}

function Total({ disk: { usedBytes: reserved, limitBytes, packages, images, contentBytes }, use }: TotalProps) {
  const known = use?.volumes.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) ?? 0;
  const isPart = use?.volumes.some(({ bytes }) => bytes === null) === true;
  const exact = [...packages, ...images].reduce((sum, { bytes }) => sum + bytes, contentBytes);
  const used = use === null ? null : known + exact;
  const share = (bytes: number, of: number) => `${Math.min(100, (100 * bytes) / Math.max(1, of))}%`;
  return (
    <section class="block">
      <p>
        {sizeText(reserved)} of {sizeText(limitBytes)} reserved
        {used !== null && `, ${isPart ? 'at least ' : ''}${sizeText(used)} of it in use`}
      </p>
      <div class="storage-bar" aria-hidden="true">
        <span style={{ inlineSize: share(reserved, limitBytes) }}>
          {used !== null && <span class="storage-used" style={{ inlineSize: share(used, reserved) }} />}
        </span>
      </div>
      {reserved >= limitBytes && (
        <Note tone="danger">Your storage is full. Delete data of removed apps or packages to make space.</Note>
      )}
    </section>
  );
}

/** What lies in the object store has no place reserved for it. */
function Objects({ use }: { readonly use: StorageUse | null }) {
  if (use === null || use.objects.length === 0) return null;
  return (
    <section class="block">
      <h3>Object storage</h3>
      <ul class="rows">
        {use.objects.toSorted(byName).map(({ appId, name, bytes, more }) => (
          <li key={appId} class="row">
            <span class="row-icon">
              <Icon name="box" />
            </span>
            <span class="row-text">
              <span class="row-title">{name}</span>
              <span class="row-about">
                {bytes === null
                  ? 'The store doesn’t say how much'
                  : `${more ? 'more than ' : ''}${sizeText(bytes)} used`}{' '}
                · nothing reserved
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ItemsProps {
  readonly title: string;
  readonly rows: readonly Item[];
  readonly again: () => Promise<void>;
}

function Items({ title, rows, again }: ItemsProps) {
  if (rows.length === 0) return null;
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

function volumeItem(
  { appId, name, bytes: size, installed, deleting }: AccountDisk['volumes'][number],
  use: StorageUse | null,
): Item {
  const used = use?.volumes.find((one) => one.appId === appId)?.bytes;
  const inUse = used === undefined ? '' : used === null ? 'use unknown of ' : `${sizeText(used)} used of `;
  return {
    key: appId,
    icon: 'disk',
    title: name,
    about: `${size === 0 ? 'object storage' : `${inUse}${sizeText(size)} reserved`} · ${deleting ? 'being deleted' : installed ? 'installed' : 'removed'}`,
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
    about: `${sizeText(size)} used${use}`,
    remove: installed || keptUntil !== null ? null : () => call('catalog.withdraw', { params: { appId, version } }),
    question: `Delete version ${shortVersion(version)} of ${appId} from the Store?`,
    typed: null,
  };
}

function imageItem({ appId, name, bytes: size }: AccountDisk['images'][number]): Item {
  return {
    ...{ key: appId, icon: 'box', title: name, about: `${sizeText(size)} used · installed` },
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
