// The security rating in a few words, for reviews, Settings and the Store.
import { type Rating, ratingScale, type SecurityRating } from '@platform/contract/security-rating';

/** `needs a lot of trust` */
export function trustWords(rating: Rating): string {
  const { label } = ratingScale[rating];
  return `${label[0]?.toLowerCase() ?? ''}${label.slice(1)}`;
}

/** `Security 4 of 5.`; of an update what it was, too. */
export function ratingWords(rating: Rating, before: Rating | undefined): string {
  if (before === undefined) return `Security ${rating} of 5.`;
  if (before === rating) return `Security stays ${rating} of 5.`;
  return `Security was ${before} of 5 and becomes ${rating} of 5.`;
}

const MOST_CAUSES = 2;

/** What makes it worse than it was, or else what weighs most. */
export function causes({ reasons }: SecurityRating, before?: SecurityRating): readonly string[] {
  const texts = reasons.map(({ text }) => text);
  const worse = reasons.filter(({ rating }) => before !== undefined && rating < before.rating).length;
  return texts.length === 0 ? [ratingScale[5].worst] : texts.slice(0, Math.min(MOST_CAUSES, Math.max(1, worse)));
}
