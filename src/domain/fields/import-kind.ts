/**
 * The imports that have a `serviceName`; the expressions of integrations are told it as `$importKind`
 * (specification/integrations.md#mapping).
 */
export const importKinds = ["loads", "stops", "asn", "orders"] as const;
export type ImportKindName = (typeof importKinds)[number];
