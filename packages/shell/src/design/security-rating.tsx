// The security rating of an app at a glance, for the shell and the platform's own apps: a shield with the number, and as many
// filled bars of five. Colour only repeats what both say.
import { askedRating, type Rating, ratingScale, type SecurityRating } from '@platform/contract/security-rating';
import { causes, trustWords } from './rating-words.ts';

export { askedRating, causes, trustWords };

const BARS = [1, 2, 3, 4, 5] as const;
const SHIELD = 'M12 2 3.5 5v6.5c0 5.2 3.5 9 8.5 10.5 5-1.5 8.5-5.3 8.5-10.5V5L12 2Z';

/** Decoration only: words beside it say the same. */
export function RatingPicture({ rating, large = false }: { readonly rating: Rating; readonly large?: boolean }) {
  return (
    <span class={`rating-picture rating-${rating}${large ? ' large' : ''}`}>
      <svg class="rating-shield" viewBox="0 0 24 24" aria-hidden="true">
        <path d={SHIELD} />
        <text x="12" y="16.2" text-anchor="middle">
          {rating}
        </text>
      </svg>
      <svg class="rating-bars" viewBox="0 0 34 10" aria-hidden="true">
        {BARS.map((bar) => (
          <rect
            key={bar}
            class={bar <= rating ? 'filled' : undefined}
            x={(bar - 1) * 7 + 0.75}
            y="0.75"
            width="4.5"
            height="8.5"
            rx="1.5"
          />
        ))}
      </svg>
    </span>
  );
}

/** For lists. */
export function RatingBadge({ rating }: { readonly rating: Rating }) {
  return (
    <span class="rating-badge">
      <RatingPicture rating={rating} />
      <span>
        Security<span class="only-read"> rating</span> {rating} of 5
      </span>
    </span>
  );
}

/** Folded, below one reason that is shown anyway. */
export function RatingReasons({ rated: { rating, reasons } }: { readonly rated: SecurityRating }) {
  return (
    <details class="rating-why">
      <summary>Why {rating} of 5?</summary>
      <p>{ratingScale[rating].worst}</p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <p class="rating-limits">
        The rating says what an app could do at worst, whoever made it. It does not say whether you can trust its maker.
      </p>
    </details>
  );
}
