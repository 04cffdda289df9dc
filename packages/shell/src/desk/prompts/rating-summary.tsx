// The security rating in a review and in Settings, as the person's choice makes it: above what scrolls, and said anew when it
// changes. For an update also what it was.
import { ratingScale, type SecurityRating } from '@platform/contract/security-rating';
import { causes, ratingWords } from '../../design/rating-words.ts';
import { RatingPicture, RatingReasons } from '../../design/security-rating.tsx';

interface RatingSummaryProps {
  readonly rated: SecurityRating;
  /** What the app has without the change that is reviewed. */
  readonly before?: SecurityRating;
  /** With all that it asks for. */
  readonly whole?: SecurityRating;
}

export function RatingSummary({ rated, before, whole }: RatingSummaryProps) {
  const { rating } = rated;
  return (
    <section class="rating-box" aria-label="Security rating">
      <RatingPicture rating={rating} large />
      <div>
        <p role="status">
          <strong>{ratingWords(rating, before?.rating)}</strong> {ratingScale[rating].label}.
        </p>
        {causes(rated, before).map((text) => (
          <p key={text} class="rating-reason">
            {text}
          </p>
        ))}
        {whole !== undefined && whole.rating !== rating && (
          <p class="rating-whole">With everything it asks for: {whole.rating} of 5.</p>
        )}
        <RatingReasons rated={rated} />
      </div>
    </section>
  );
}
