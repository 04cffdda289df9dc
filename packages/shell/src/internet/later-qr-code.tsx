// Keeps the place of the QR code until its script is there; a page without it still has the address.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

export function LaterQrCode({ text }: { readonly text: string }) {
  const loaded = useSignal<{ readonly QrCode: ComponentType<{ readonly text: string }> } | null>(null);
  useEffect(() => {
    import('./qr-code.tsx').then(
      ({ QrCode }) => {
        loaded.value = { QrCode };
      },
      () => undefined,
    );
  }, []);
  if (loaded.value === null) return <div class="qr-code" />;
  const { QrCode } = loaded.value;
  return <QrCode text={text} />;
}
