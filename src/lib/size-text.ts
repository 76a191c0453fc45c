/** A number of bytes for people: in GB, or in whole MB below one. */
export function sizeText(bytes: number): string {
  const gigabytes = bytes / 1e9;
  return gigabytes >= 1 ? `${gigabytes.toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
