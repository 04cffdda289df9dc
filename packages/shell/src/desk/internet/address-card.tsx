// The address of an app on the internet: to read, to copy and to scan.
import { Button, Note } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { isOperator } from '../../session/guide.ts';
import { AddressText } from './address-text.tsx';
import { LaterQrCode } from './later-qr-code.tsx';
import { askToRenewAddress } from './renew-address-review.tsx';

interface AddressCardProps {
  readonly appId: string;
  readonly name: string;
  readonly url: string;
  readonly onRenewed: () => Promise<void>;
}

/** Names below `.localhost` lead every machine to itself. */
export function isOnlyHere(url: string): boolean {
  return new URL(url).hostname.endsWith('.localhost');
}

export function AddressCard({ appId, name, url, onRenewed }: AddressCardProps) {
  return (
    <section class="internet-card" aria-label="Address">
      <div class="internet-address">
        <code class="internet-url">
          <AddressText url={url} />
        </code>
        <div class="buttons">
          <CopyButton key={url} kind="primary" text={url} what="the address" />
          <Button
            icon="refresh"
            onClick={() =>
              void askToRenewAddress(appId, name).then(async (renewed) => {
                if (renewed) await onRenewed();
              })
            }
          >
            New address …
          </Button>
        </div>
        {isOnlyHere(url) ? (
          <Note tone="info">
            This address works on this computer only: the platform has no public domain.{' '}
            {isOperator()
              ? 'Give it one with PLATFORM_INGRESS_DOMAIN: docs/operations/public.md.'
              : 'Its operator can give it one, with PLATFORM_INGRESS_DOMAIN.'}
          </Note>
        ) : (
          <p class="quiet-text">
            The address can’t be guessed, but it isn’t secret: anyone you give it to can pass it on.
          </p>
        )}
      </div>
      {!isOnlyHere(url) && <LaterQrCode text={url} />}
    </section>
  );
}
