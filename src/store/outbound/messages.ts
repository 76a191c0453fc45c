/**
 * Messages to customers as rows, and the parts of a stop that they show. Which are made, and when, is in
 * `operations/consequences`.
 */
import { sql } from "kysely";
import { arrivalNews, type MessageChannel } from "../../domain/messages/message-event.ts";
import type { MessageFacts } from "../../domain/messages/message-fields.ts";
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

type StopKey = Pick<RowOf<"messages">, "companyId" | "stopNbr">;

/** The parts of a stop that messages can show. */
export type ToldStop = Pick<RowOf<"stops">, "stopNbr" | "body" | "execution" | "loadId">;

const columns = namedColumns("stop_nbr", "body", "execution", "load_id");

/** The stop of that number; empty when there is none. */
export const findToldStop = prepareQuery<StopKey, ToldStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).rows;

/** The stops on the load that are not final, in its order. */
export const listOpenToldStops = prepareQuery<{ companyId: number; loadNbr: string }, ToldStop>((db, arg) =>
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
).rows;

/** A planned arrival as it was announced to a customer, or as it was when it was first known. */
type ToldEta = Pick<RowOf<"message_etas">, "loadId" | "etaAt">;

/** The row that `saveToldEta` stored for the stop of that number. */
export const findToldEta = prepareQuery<StopKey, ToldEta>((db, arg) =>
  db
    .selectFrom("message_etas")
    .select(namedColumns("load_id", "eta_at"))
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).find;

/** Stores it for the stop, replacing the one before. */
export const saveToldEta = prepareQuery<RowOf<"message_etas">>((db, arg) => {
  const told = namedArguments(arg, "load_id", "eta_at");
  return db
    .insertInto("message_etas")
    .values({ ...namedArguments(arg, "company_id", "stop_nbr"), ...told })
    .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doUpdateSet(excluded(told)));
}).run;

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

export interface StoredMessage extends Omit<RowOf<"messages">, "stopNbr" | "facts"> {
  readonly facts: MessageFacts;
}

/** The messages with these ids, some dozens at a time. */
export async function findMessages(read: Reader, ids: readonly number[]): Promise<readonly StoredMessage[]> {
  if (ids.length === 0) return [];
  const rows = await read.selectFrom("messages").selectAll().where("id", "in", ids).execute();
  return rows.map((row) => ({ ...named(row), facts: JSON.parse(row.facts) as MessageFacts }));
}

type NewerArguments = Pick<RowOf<"messages">, "companyId" | "stopNbr" | "channel" | "id">;

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
  return (await newerQuery.find(read, { companyId, channel, id, stopNbr: facts.stopNbr })) !== undefined;
}
