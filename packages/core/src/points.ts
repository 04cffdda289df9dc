// Named moments, right before and after what cannot be taken back, at which a test may hold, stop or kill core.
// Outside tests nothing listens: only `CoreOptions.at` can, which is code that starts core, never an environment
// variable, a setting or a request.

/** Each domain adds its own in its points.ts, under its name. */
// biome-ignore lint/suspicious/noEmptyInterface: every points.ts adds to it
export interface Points {}

/** e.g. `pause.committing`. */
export type Point = { [Domain in keyof Points]: `${Domain}.${Points[Domain] & string}` }[keyof Points];

/** The two points around one commit. */
export type Moment = Point extends infer One ? (One extends `${infer Name}.committing` ? Name : never) : never;

/** Waits for as long as the test holds this moment. */
export type At = (point: Point) => Promise<void> | undefined;

export const nothingListens: At = () => undefined;
