// An address outside the platform, where a person decides about it.

/**
 * An outside origin, large enough to be read letter by letter. An international name stands in its plain form, in which no
 * letter looks like another.
 */
export function OutsideAddress({ resource }: { readonly resource: string }) {
  if (resource === '*') return <span class="address">Any address</span>;
  return (
    <span>
      <span class="address">
        <span class="address-scheme">https://</span>
        <span class="address-host">{resource.replace(/^https:\/\//, '')}</span>
      </span>
      {/(^https:\/\/|\.)xn--/.test(resource) && (
        <span class="address-more">An international name. Allow it only if you know it in this form.</span>
      )}
    </span>
  );
}
