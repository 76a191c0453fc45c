/**
 * The maximum length of every field that has one of its own (specification/limits.md#lengths-of-fields). JSON
 * validators, the XSD and the documentation take their lengths from here. This file imports nothing, so that parser
 * threads stay lean.
 */
const ownLimits = new Map<string, number>([
  ["companyCode", 20],
  ["carrierCode", 10],
  ["assignmentCriteria", 10],
  ["driverEmail", 50],
  ["driverName", 50],
  ["driverCdl", 10],
  ["driverUserName", 50],
  ["userName", 100],
  ["loadNbr", 20],
  ["stopNbr", 20],
  ["orderNbr", 20],
  ["shipmentNbr", 20],
  ["sealNbr", 20],
  ["routeName", 20],
  ["reasonCode", 10],
  ["reasonComments", 500],
  ["eventCode", 50],
  ["routeNbr", 30],
  ["proNumber", 10],
  ["reference", 50],
  ["reference1", 50],
  ["reference2", 50],
  ["reference3", 50],
  ["productIdentifier", 50],
  ["product", 100],
  ["commentDescription", 500],
]);

/** The maximum of every string that has none of its own. */
const defaultMaxLength = 2_000;

/** The maximum length, in characters, of a field of this name wherever it occurs. */
export function maxLengthOf(field: string): number {
  return ownLimits.get(field) ?? defaultMaxLength;
}
