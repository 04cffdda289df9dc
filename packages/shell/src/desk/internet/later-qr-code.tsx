// Keeps the place of the QR code until its script is there; a page without it still has the address.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { QrCodeProps } from '../../design/qr-code.tsx';

export function LaterQrCode(props: QrCodeProps) {
  const loaded = useSignal<{ readonly QrCode: ComponentType<QrCodeProps> } | null>(null);
  useEffect(() => {
    import('../../design/qr-code.tsx').then(
      ({ QrCode }) => {
        loaded.value = { QrCode };
      },
      () => undefined,
    );
  }, []);
  if (loaded.value === null) return <div class="qr-code" />;
  const { QrCode } = loaded.value;
  return <QrCode {...props} />;
}
