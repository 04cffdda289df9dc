// The security rating of an app with all that it asks for, and why; a review rates what a person leaves on.
import type { AppDetails } from '@platform/sdk/browser';
import { askedRating, causes, RatingPicture, RatingReasons, trustWords } from '@platform/shell/security-rating';

export function Security({ detail }: { readonly detail: AppDetails }) {
  const rated = askedRating(detail);
  return (
    <section aria-labelledby="security-title">
      <h2 id="security-title">Security</h2>
      <div class="rating-box">
        <RatingPicture rating={rated.rating} large />
        <div>
          <p>
            <strong>{rated.rating} of 5</strong>, {trustWords(rated.rating)} with everything it asks for.
          </p>
          <p class="rating-reason">{causes(rated)}</p>
          <RatingReasons rated={rated} />
        </div>
      </div>
    </section>
  );
}
