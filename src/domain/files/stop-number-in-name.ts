/**
 * A stop number as file names have it: in lower case, with `-` for each character outside of the names' alphabet, and for a
 * dot at its begin, which would make the name that of an unfinished file.
 */

function withoutLeadingDot(text: string): string {
  return text.replace(/^\.|^$/, "-");
}

/** The form that the names of our own files have. */
export function stopNumberInName(stopNbr: string): string {
  const characters = [...stopNbr].map((one) => (/^[A-Za-z0-9._-]$/.test(one) ? one : "-"));
  // Lower case comes last: that of some letters is longer than the letter.
  return withoutLeadingDot(characters.join("")).toLowerCase();
}

/**
 * All forms that a host may give it. They are one but for the few letters whose lower case begins with a letter of the
 * alphabet, such as the Kelvin sign: a host may have put them into lower case first.
 */
export function stopNumberForms(stopNbr: string): readonly string[] {
  const lowerFirst = withoutLeadingDot(stopNbr.toLowerCase().replaceAll(/[^a-z0-9._-]/gu, "-"));
  return [...new Set([stopNumberInName(stopNbr), lowerFirst])];
}

/** Whether two different numbers have the same form: a file name cannot tell them apart. */
export function isOtherStopOfName(stopNbr: string, other: string): boolean {
  const isSame = stopNbr.toLowerCase() === other.toLowerCase();
  const forms = stopNumberForms(other);
  return !isSame && stopNumberForms(stopNbr).some((form) => forms.includes(form));
}
