/**
 * Messages to customers as rows, and the parts of a stop that they show. Which are made, and when, is in
 * `operations/consequences`.
 */
import { sql } from "kysely";
import { arrivalNews, type MessageChannel } from "../../domain/messages/message-event.ts";
import type { MessageFacts } from "../../domain/messages/message-fields.ts";
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

/** The parts of a stop that messages can show. */
export interface ToldStop {
  readonly stopNbr: string;
  /** JSON: the canonical stop. */
  readonly body: string;
  readonly execution: string;
  readonly loadId: number | null;
}

interface StopKey {
  readonly companyId: number;
  readonly stopNbr: string;
}

const columns = ["stop_nbr as stopNbr", "body", "execution", "load_id as loadId"] as const;

const stopQuery = prepareQuery<StopKey, ToldStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

const openStopsQuery = prepareQuery<{ companyId: number; loadNbr: string }, ToldStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("load_id", "=", (eb) =>
      eb
        .selectFrom("loads")
        .select("loads.id")
        .where("loads.company_id", "=", arg("companyId"))
        .where("loads.load_nbr", "=", arg("loadNbr")),
    )
    .where("stop_status", "not in", finalStopStatuses)
    .orderBy("load_position"),
);

/** The stop of that number; empty when there is none. */
export async function findToldStop(tx: Transaction, stop: StopKey): Promise<readonly ToldStop[]> {
  return (await stopQuery.run(tx, stop)).rows;
}

/** The stops on the load that are not final, in its order. */
export async function listOpenToldStops(
  tx: Transaction,
  load: { readonly companyId: number; readonly loadNbr: string },
): Promise<readonly ToldStop[]> {
  return (await openStopsQuery.run(tx, load)).rows;
}

const targetQuery = prepareQuery<{ companyId: number; name: string }, { id: number }>((db, arg) =>
  db
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("name", "=", arg("name"))
    .where("is_configured", "=", 1),
);

/** The id of the target of messages with that name; undefined when it is not configured. */
export async function findMessageTarget(
  tx: Transaction,
  target: { readonly companyId: number; readonly name: string },
): Promise<number | undefined> {
  return (await targetQuery.run(tx, target)).rows[0]?.id;
}

/** A planned arrival as it was announced to a customer, or as it was when it was first known. */
export interface ToldEta {
  readonly loadId: number;
  /** Milliseconds UTC. */
  readonly etaAt: number;
}

const toldEtaQuery = prepareQuery<StopKey, ToldEta>((db, arg) =>
  db
    .selectFrom("message_etas")
    .select(["load_id as loadId", "eta_at as etaAt"])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** The row that `saveToldEta` stored for the stop of that number. */
export async function findToldEta(tx: Transaction, stop: StopKey): Promise<ToldEta | undefined> {
  return (await toldEtaQuery.run(tx, stop)).rows[0];
}

/** Stores it for the stop, replacing the one before. */
export async function saveToldEta(
  tx: Transaction,
  { companyId, stopNbr }: StopKey,
  { loadId: load_id, etaAt: eta_at }: ToldEta,
): Promise<void> {
  await tx
    .insertInto("message_etas")
    .values({ company_id: companyId, stop_nbr: stopNbr, load_id, eta_at })
    .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doUpdateSet({ load_id, eta_at }))
    .execute();
}

export interface NewMessage {
  readonly companyId: number;
  readonly code: number;
  readonly channel: MessageChannel;
  readonly address: string;
  readonly facts: MessageFacts;
  readonly now: number;
}

/** Stores a message; returns its id. */
export async function insertMessage(tx: Transaction, message: NewMessage): Promise<number> {
  const { companyId, code, channel, address, facts, now } = message;
  const { id } = await tx
    .insertInto("messages")
    .values({
      ...{ company_id: companyId, stop_nbr: facts.stopNbr, event_code: code, channel, address },
      ...{ facts: JSON.stringify(facts), created_at: now },
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

export interface StoredMessage {
  readonly id: number;
  readonly companyId: number;
  readonly eventCode: number;
  readonly channel: MessageChannel;
  readonly address: string;
  readonly facts: MessageFacts;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

/** The messages with these ids, some dozens at a time. */
export async function findMessages(read: Reader, ids: readonly number[]): Promise<readonly StoredMessage[]> {
  if (ids.length === 0) return [];
  const rows = await read.selectFrom("messages").selectAll().where("id", "in", ids).execute();
  return rows.map((row) => ({
    id: row.id,
    companyId: row.company_id,
    eventCode: row.event_code,
    channel: row.channel as MessageChannel,
    address: row.address,
    facts: JSON.parse(row.facts) as MessageFacts,
    createdAt: row.created_at,
  }));
}

interface NewerArguments {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly channel: MessageChannel;
  readonly id: number;
}

const newerQuery = prepareQuery<NewerArguments, { id: number }>((db, arg) =>
  db
    .selectFrom("messages")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr"))
    .where("channel", "=", arg("channel"))
    .where("id", ">", arg("id"))
    .where("event_code", "in", arrivalNews)
    .limit(sql.lit(1)),
);

/** Whether a later message of the same stop and channel announces the arrival anew. */
export async function hasLaterArrivalNews(read: Reader, message: StoredMessage): Promise<boolean> {
  const { companyId, channel, id, facts } = message;
  const { rows } = await newerQuery.run(read, { companyId, channel, id, stopNbr: facts.stopNbr });
  return rows.length > 0;
}
