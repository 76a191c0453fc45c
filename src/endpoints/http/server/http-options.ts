/** The options of the HTTP endpoint; the composition root fills them from the configuration. */
import type { JsonLimits } from "../../../lib/json-text.ts";
import type { TlsOptions } from "../../../lib/tls-settings.ts";
import type { ConnectionLimits } from "../../../sign-in/connection-gate.ts";

export interface HttpOptions extends ConnectionLimits {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Empty, or `/rest`: starts with a slash and does not end with one. */
  readonly basePath: string;
  readonly tls?: TlsOptions;
  /** Basic over plain HTTP from other addresses than loopback. */
  readonly allowPlain: boolean;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Addresses and CIDR ranges of balancers, whose connections begin with a PROXY header. */
  readonly proxyProtocolFrom: readonly string[];
  readonly legacyStatus: "ok" | "mapped";
  /** Addresses and CIDR ranges that may read `/metrics`. */
  readonly metricsFrom: readonly string[];
  /** Loads in one import. */
  readonly maxLoads: number;
  /** Stops, orders, customers, partners or users in one import. */
  readonly maxEntries: number;
  readonly maxJsonDepth: number;
  /** Objects, lists, texts and numbers of one body. */
  readonly maxJsonValues: number;
  readonly unknownFields: "keep" | "refuse";
  readonly maxBodyBytes: number;
  /** Of large bodies, at the same time; counts as `maxBodyBytes` when that is more. */
  readonly maxBodyBytesInWork: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** 0 closes each connection after its answer. */
  readonly keepAliveTimeoutMs: number;
  readonly maxRequestsInFlight: number;
}

/** The bounds of a JSON body. */
export function jsonLimitsOf({ maxJsonDepth, maxJsonValues }: HttpOptions): JsonLimits {
  return { maxDepth: maxJsonDepth, maxValues: maxJsonValues };
}
