/**
 * Makes a mail, or a post to a web service, of a notice that was kept: the same bytes each time. None for a receiver that
 * the configuration no longer has: what is in a notice is not for whoever has left.
 */
import { hash } from "node:crypto";
import { alertWayTo, formerReceiver } from "../domain/alerts/audience.ts";
import { findNotice } from "../store/alerts/alert-notices.ts";
import type { Reader } from "../store/database/database.ts";
import type { DeliveryToRender, RenderedDelivery, RenderOrWithhold } from "./delivery-to-render.ts";
import type { Delivery } from "./target.ts";

function rendered(delivery: Delivery, content: string): RenderedDelivery {
  const bytes = Buffer.from(content, "utf8");
  return { delivery, sha256: hash("sha256", bytes, "hex"), size: bytes.length };
}

export interface AlertRendererDeps {
  readonly read: Reader;
  /** Those of the company, or with `operatorCode` of the operator, as the configuration has them at this moment. */
  readonly receiversOf: (companyCode: string) => readonly string[];
}

async function render(
  { read, receiversOf }: AlertRendererDeps,
  row: DeliveryToRender,
): ReturnType<RenderOrWithhold> {
  const { guid: id, companyCode, name, orderKey: to, subjectId } = row;
  if (!receiversOf(companyCode).includes(to)) {
    return { kind: "dropped", ...formerReceiver };
  }
  const notice = await findNotice(read, subjectId);
  if (notice === undefined) throw new Error(`the alert notice ${subjectId} is not in the database`);
  const { subject, text, body, createdAt: date } = notice;
  if (alertWayTo(to) === "email") {
    const message = { channel: "email", to, subject, text, date } as const;
    return rendered({ id, companyCode, files: [], message }, JSON.stringify(message));
  }
  const file = { name, contentType: "application/json", read: async () => Buffer.from(body, "utf8") };
  return rendered({ id, companyCode, files: [file] }, body);
}

/** The renderer of alerts. */
export function createAlertRenderer(deps: AlertRendererDeps): RenderOrWithhold {
  return (row) => render(deps, row);
}
