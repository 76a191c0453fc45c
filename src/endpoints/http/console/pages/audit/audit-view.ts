/** What the audit is asked, and what is found. */

export interface AuditAsked {
  readonly userName?: string | undefined;
  /** One of these. */
  readonly kinds?: readonly string[] | undefined;
  readonly subject?: string | undefined;
  /** Ids of companies whose entries are left out. */
  readonly exceptOf?: readonly number[];
  /** From this moment on, and before that one, milliseconds UTC. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Behind this entry, which is newer. */
  readonly beforeId?: number | undefined;
  readonly limit: number;
}

export interface ShownAudit {
  readonly id: number;
  /** Milliseconds UTC. */
  readonly at: number;
  /** Null for what the program did by itself. */
  readonly userName: string | null;
  readonly companyCode: string | undefined;
  readonly kind: string;
  readonly subject: string | null;
  readonly reason: string | null;
  readonly address: string | null;
  /** JSON values. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditFound {
  /** The newest first. */
  readonly entries: readonly ShownAudit[];
  /** The last of them, when there are older ones. */
  readonly nextBefore: number | undefined;
}
