/** Renames an own unfinished file. A name that does not say "unfinished" makes it a file that has arrived. */
import { constants } from "node:fs";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { openRegularFile } from "../../lib/files/open-regular-file.ts";
import { becomeFile, type Destination } from "./complete-upload.ts";
import { noSuchFile } from "../disk-fault.ts";
import { type ExchangeAttributes, ExchangeError } from "../exchange-session.ts";
import { type InboundContext, InboundNames } from "./inbound-names.ts";

export async function renameUnfinished(
  context: InboundContext,
  from: string,
  to: { readonly name: string; readonly mayReplace: boolean },
): Promise<void> {
  const names = new InboundNames(context);
  const partials = await names.partials();
  const own = await names.own(from);
  const claim = await context.claims.claim(own.key);
  try {
    const attributes = await names.unfinished(own);
    if (partials === undefined || attributes === undefined) throw await names.whyNotOwn(from, own);
    if (from === to.name) return;
    const destination = { context, partials, own, name: to.name };
    if (isUnfinishedName(to.name)) await toUnfinishedName(destination, to.mayReplace);
    else await toFinalName(destination, attributes, to.mayReplace);
  } finally {
    claim.release();
  }
}

async function toFinalName(
  destination: Destination,
  attributes: ExchangeAttributes,
  mayReplace: boolean,
): Promise<void> {
  const { context, partials, own, name } = destination;
  if (!mayReplace && (await new InboundNames(context).waiting(name)) !== undefined) {
    throw new ExchangeError("alreadyExists", "A file of this name exists already and waits to be processed");
  }
  const { disk } = context;
  const file = await openRegularFile(partials.child(own.name), constants.O_RDWR, disk);
  if (file === undefined) throw noSuchFile();
  try {
    // The part of a broken upload has never been synced.
    await disk.fsync(file.fd);
  } finally {
    await disk.close(file.fd);
  }
  await becomeFile(destination, { attributes, closedAt: context.closeClock.now() });
}

async function toUnfinishedName(
  { context, partials, own, name }: Destination,
  mayReplace: boolean,
): Promise<void> {
  const { claims, disk } = context;
  const names = new InboundNames(context);
  const other = await names.own(name);
  if (other.key === own.key) return;
  const claim = await claims.claim(other.key);
  try {
    if (mayReplace || (await names.unfinished(other)) === undefined)
      await disk.unlink(partials.child(other.name)).catch(unlessMissing);
    await disk.link(partials.child(own.name), partials.child(other.name));
    await disk.unlink(partials.child(own.name));
    await partials.sync();
  } finally {
    claim.release();
  }
}
