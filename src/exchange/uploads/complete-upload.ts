/**
 * The close of an upload, step by step:
 *
 *   sync of the bytes → final name (`placeArrival`: receipt of an earlier file away, link, sync of the folder)
 *   → to the pipeline → the close is answered
 *
 * One whose name says "unfinished" keeps it: sync of the bytes, sync of its folder, answer.
 */
import { placeArrival } from "../../inbound/places/place-arrival.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import type { ExchangeAttributes } from "../exchange-session.ts";
import { type InboundContext, keyOf, type OwnFile } from "./inbound-names.ts";
import { traced } from "./intake.ts";

/** An own unfinished file that is to have this name. */
export interface Destination {
  readonly context: InboundContext;
  readonly partials: PinnedFolder;
  readonly own: OwnFile;
  readonly name: string;
}

/** A file as it was closed, or got its name. */
export interface ClosedFile {
  readonly attributes: ExchangeAttributes;
  /** Milliseconds UTC. */
  readonly closedAt: number;
}

/** Makes the upload durable, and a file unless its name says "unfinished". */
export async function completeUpload(
  destination: Destination,
  content: { sync(): Promise<void> },
  attributes: ExchangeAttributes,
): Promise<void> {
  const { context, partials, own } = destination;
  const closedAt = context.closeClock.now();
  await traced(context.deps.intake, context.company, async () => {
    await content.sync();
    if (!own.staysUnfinished) return await becomeFile(destination, { attributes, closedAt });
    await partials.sync();
    context.memory.setTimes(own.key, attributes);
  });
}

/** Gives an unfinished file whose bytes are durable its final name, and hands it to the pipeline. */
export async function becomeFile(destination: Destination, closed: ClosedFile): Promise<void> {
  const { context, partials, own, name } = destination;
  const { company, deps, disk, memory, peer } = context;
  const { channel, userName } = peer;
  const { size } = closed.attributes;
  const arrival = await placeArrival(
    { inbox: deps.inbox, disk },
    {
      from: partials.child(own.name),
      inbound: await company.folders.inbound(),
      arrival: { companyId: company.id, name, channel, userName, size, receivedAt: closed.closedAt },
    },
  );
  deps.arrivals.arrive(arrival);
  memory.becameFile(own.key, keyOf(partials, name), closed.attributes);
}
