// What takes the disk space of an account, the largest first.
import type { ListedAccount } from '@platform/sdk/browser';
import { Bar } from './parts.tsx';
import { sizeText, sum } from './words.ts';

export function DiskByApp({ account: { name, disk, diskBytes } }: { readonly account: ListedAccount }) {
  if (disk.length === 0) return <p class="quiet">Its apps take no disk space.</p>;
  const rest = diskBytes - sum(disk.map(allOf));
  return (
    <div>
      <h3>Disk by app</h3>
      <ul class="plain disk" aria-label={`Disk space of ${name} by app`}>
        {disk.map((app) => (
          <li key={app.appId}>
            <p class="row between">
              <span>{app.name}</span>
              <span class="quiet figure">{parts(app)}</span>
            </p>
            <Bar value={allOf(app)} of={diskBytes} />
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="quiet small">{sizeText(rest)} more in other apps.</p>}
      <p class="quiet small">
        Volumes count with the size their apps declare, packages with those of all versions, images as unpacked.
      </p>
    </div>
  );
}

type UseOfApp = ListedAccount['disk'][number];

const allOf = ({ volumeBytes, packageBytes, imageBytes }: UseOfApp) => volumeBytes + packageBytes + imageBytes;

function parts({ volumeBytes, packageBytes, imageBytes }: UseOfApp): string {
  const volume = volumeBytes > 0 ? [`${sizeText(volumeBytes)} volume`] : [];
  const packages = packageBytes > 0 ? [`${sizeText(packageBytes)} packages`] : [];
  const image = imageBytes > 0 ? [`${sizeText(imageBytes)} image`] : [];
  return [...volume, ...packages, ...image].join(', ');
}
