/** Which receivers of an audience were told of an incident, as rows; by which notice, shows what became of its delivery. */
import type { ExpressionBuilder } from "kysely";
import { webServiceAddress } from "../../domain/alerts/audience.ts";
import { endedDeliveryStates } from "../../domain/outbound/delivery-state.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns } from "../database/named-rows.ts";
import type { Tables } from "../database/schema.ts";

export type ToldReceiver = Awaited<ReturnType<typeof listToldReceivers>>[number];

/**
 * The receivers that were told of the incidents with these ids, each with the state of the last delivery; without one
 * when that was removed for its age.
 */
export async function listToldReceivers(db: Reader | Transaction, ids: readonly number[]) {
  if (ids.length === 0) return [];
  return await db
    .selectFrom("incident_receivers as r")
    .leftJoin("deliveries as d", (join) =>
      join
        .on("d.kind", "=", "alert")
        .onRef("d.subject_id", "=", "r.notice_id")
        .onRef("d.order_key", "=", "r.receiver"),
    )
    .select(namedColumns("r.incident_id", "r.audience_id", "r.receiver", "r.url_hash", "d.state", "d.fault"))
    .where("r.incident_id", "in", ids)
    .execute();
}

export interface Told {
  readonly audienceId: number;
  readonly receiver: string;
  readonly urlHash: string | null;
  readonly noticeId: number;
}

/** Notes that the receiver was told of the incidents by the notice. */
export async function saveToldReceiver(
  tx: Transaction,
  incidentIds: readonly number[],
  { audienceId, receiver, urlHash, noticeId }: Told,
): Promise<void> {
  const told = { url_hash: urlHash, notice_id: noticeId };
  for (const incident_id of incidentIds)
    await tx
      .insertInto("incident_receivers")
      .values({ incident_id, audience_id: audienceId, receiver, ...told })
      .onConflict((conflict) =>
        conflict.columns(["incident_id", "audience_id", "receiver"]).doUpdateSet(told),
      )
      .execute();
}

/** The URL of an audience's web service, as its hash. */
export interface UrlOfWebService {
  readonly audienceId: number;
  readonly urlHash: string;
}

/** What the web service was told, or is still to be told, and not known to be at this URL. */
const isToNote =
  ({ audienceId, urlHash }: UrlOfWebService) =>
  (eb: ExpressionBuilder<Tables, "incident_receivers">) =>
    eb.and([
      eb("audience_id", "=", audienceId),
      eb("receiver", "=", webServiceAddress),
      eb.or([
        eb("url_hash", "is", null),
        eb.and([
          eb("url_hash", "!=", urlHash),
          eb.exists(
            eb
              .selectFrom("deliveries as d")
              .select("d.id")
              .where("d.kind", "=", "alert")
              .whereRef("d.subject_id", "=", "incident_receivers.notice_id")
              .whereRef("d.order_key", "=", "incident_receivers.receiver")
              .where("d.state", "not in", ["dead", ...endedDeliveryStates]),
          ),
        ]),
      ]),
    ]);

/** Whether `noteUrlOfWebService` would note something. */
export async function hasUrlToNote(db: Reader, url: UrlOfWebService): Promise<boolean> {
  const told = db.selectFrom("incident_receivers").select("incident_id").where(isToNote(url));
  return (await told.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Notes that what an audience's web service was told, and what still waits for it, is known at this URL: what waits goes
 * to the URL of the configuration. Of what was told before URLs were noted, it was this one.
 */
export async function noteUrlOfWebService(tx: Transaction, url: UrlOfWebService): Promise<void> {
  await tx.updateTable("incident_receivers").set({ url_hash: url.urlHash }).where(isToNote(url)).execute();
}
