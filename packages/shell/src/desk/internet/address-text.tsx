// An address to read: it breaks at its dots and before its random part, rather than within a word or at a hyphen.

/** What belongs together on a line. */
const PARTS = /(?<=--|\.)/;

export function AddressText({ url }: { readonly url: string }) {
  return url.split(PARTS).map((part, index) => (
    <span key={`${index} ${part}`} class="address-part">
      {part}
    </span>
  ));
}
