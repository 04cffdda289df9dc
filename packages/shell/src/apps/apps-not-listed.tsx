// What takes the place of everything that needs the list of apps while there is none: why, and asking again.
import { Button, Note, Skeleton } from '../design/controls.tsx';
import { listingFailure, readInstalledApps } from './installed-apps.ts';

export function AppsNotListed({ lines, label }: { readonly lines: number; readonly label: string }) {
  if (listingFailure.value === null) return <Skeleton lines={lines} label={label} />;
  return (
    <>
      <Note tone="danger">{listingFailure.value}</Note>
      <Button icon="refresh" onClick={askAgain}>
        Try again
      </Button>
    </>
  );
}

function askAgain(): void {
  // Why it failed again stands in `listingFailure`.
  readInstalledApps().catch(() => undefined);
}
