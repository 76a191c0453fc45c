/**
 * The version in which completion files are rendered. A completion keeps the version of its time, and gives the same
 * bytes as long as it is stored: whoever changes the rendering increments it, and keeps the old way for older versions.
 */
export const completionFormat = 2;

/**
 * What each version brought.
 *
 *   1  the first
 *   2  whom the stop is for (`Markfor`), and the fields of origin, destination and payer that XML stops had not
 */
export type CompletionFormat = 1 | typeof completionFormat;

/** Whether this program knows how completions of the version are written. */
export function isCompletionFormat(format: number): format is CompletionFormat {
  return format >= 1 && format <= completionFormat;
}
