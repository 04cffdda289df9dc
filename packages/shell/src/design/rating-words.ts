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

/** The gravest reasons: two where the app becomes worse, otherwise one. */
export function causes({ rating, reasons }: SecurityRating, before?: SecurityRating): readonly string[] {
  const gravest = reasons.filter((reason) => reason.rating === rating).map(({ text }) => text);
  if (gravest.length === 0) return [ratingScale[5].worst];
  return gravest.slice(0, before !== undefined && rating < before.rating ? 2 : 1);
}
