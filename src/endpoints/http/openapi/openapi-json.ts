/** A part of the API document: an object as it stands in JSON. */
export type Json = Readonly<Record<string, unknown>>;
