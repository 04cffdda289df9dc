// How others pay this person: their address, as words and as a QR code.
import { QrCode } from '@platform/shell/qr-code';

export function MyAddress({ address }: { readonly address: string }) {
  return (
    <section class="card below my-address appears" aria-label="Your address">
      <QrCode text={address} what={`your address, ${address}`} />
      <div>
        <p>Others on this platform pay you at</p>
        <p class="address">
          <strong>{address}</strong>
        </p>
        <p class="quiet small">The code holds this address and nothing else.</p>
      </div>
    </section>
  );
}
