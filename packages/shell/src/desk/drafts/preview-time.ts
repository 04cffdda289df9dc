/** As long as core serves the pages of a draft (`limits.draftPreviewSeconds`), which the shell does not load with all other limits. */
export const PREVIEW_MILLISECONDS = 600_000;
