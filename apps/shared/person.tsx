// What stands for a person: the first letter of their address on a colour of its own.
import { hueOf, letterOf } from '@platform/shell/letter';

export function Person({ address }: { readonly address: string }) {
  return (
    <span class="person" style={{ '--hue': hueOf(address) }} aria-hidden="true">
      {letterOf(address.replace(/^@/, ''))}
    </span>
  );
}
