/**
 * What the pages of the console use. The composition root fulfils it (`src/app/console`): queries run in a worker with a
 * connection of its own, acts in the process of the daemon, each with its row in the audit.
 */
import type { AuditSubject } from "../../../domain/audit/audit-subject.ts";
import type { LiveHub } from "./live/live-hub.ts";
import type { HealthSource } from "./pages/health/health-view.ts";
import type { HostServers } from "./pages/hosts/hosts-view.ts";
import type { ConsoleActs, ConsoleLooks } from "./console-acts.ts";
import type { ConsoleQueries } from "./console-queries.ts";
import type { ConsoleUser } from "./console-user.ts";

/** Whose rows a query may see: those of these companies; an operator sees also what belongs to none. */
export interface Scope {
  readonly companies: readonly { readonly id: number; readonly code: string }[];
  readonly isOperator: boolean;
}

export type QueryName = keyof ConsoleQueries;
export type Asked<Name extends QueryName> = ConsoleQueries[Name]["asked"];
export type Found<Name extends QueryName> = ConsoleQueries[Name]["found"];

export type ActName = keyof ConsoleActs;
export type LookName = keyof ConsoleLooks;

/** Content that somebody has looked at. */
export interface SeenContent {
  readonly user: ConsoleUser;
  /** Whose it is. */
  readonly companyId: number;
  readonly subject: AuditSubject;
}

export interface ConsoleServices {
  /** Where the console begins: the base path of the configuration, empty as a rule. */
  readonly basePath: () => string;
  /** Where hosts send to. */
  readonly servers: () => HostServers;
  /**
   * Runs a query in the worker. Rejects with `DropgateError` `overloaded` when it takes too long or too many wait already.
   */
  ask<Name extends QueryName>(name: Name, scope: Scope, asked: Asked<Name>): Promise<Found<Name>>;
  /**
   * Does it, and writes who, when, why, before and after to the audit in the same unit of work. Rejects with
   * `DropgateError` for what is not allowed, with `ActRefused` for what is not there or not possible any more.
   */
  act<Name extends ActName>(
    name: Name,
    by: { readonly user: ConsoleUser; readonly companyId: number | undefined; readonly reason: string },
    asked: ConsoleActs[Name]["asked"],
  ): Promise<ConsoleActs[Name]["done"]>;
  /** How companies stand at this moment, and who watches that live. */
  readonly live: LiveHub;
  /** What the daemon knows of itself; for operators. */
  readonly health: HealthSource;
  /** What only the process of the daemon knows, for who may act. Changes nothing. */
  look<Name extends LookName>(
    name: Name,
    user: ConsoleUser,
    asked: ConsoleLooks[Name]["asked"],
  ): Promise<ConsoleLooks[Name]["done"]>;
  /** Notes in the audit that the user looks at content, once for each session and subject; to be awaited before it is shown. */
  noteSeen(seen: SeenContent): Promise<void>;
}
