/** Opens uploads: claims the unfinished file, continues its part when the client means that, else makes a new one. */
import { constants } from "node:fs";
import { unlessMissing } from "../../lib/errors.ts";
import { openRegularFile } from "../../lib/files/open-regular-file.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { AheadBytes } from "./ahead-bytes.ts";
import type { Destination } from "./complete-upload.ts";
import { denied, ExchangeError, noSuchFile, type OpenWriteFlags } from "../exchange-session.ts";
import { type InboundNames, waitingText } from "./inbound-names.ts";
import { hasArrived } from "../folders/listing.ts";
import { bringHome, dropPart, madePlace, takePart } from "./node-parts.ts";
import { Upload } from "./upload.ts";
import { UploadContent } from "./upload-content.ts";
import { UploadFile } from "./upload-file.ts";

/** The part of an interrupted upload, opened. */
interface Part {
  readonly fd: number;
  readonly size: number;
}

export async function openUpload(names: InboundNames, name: string, flags: OpenWriteFlags): Promise<Upload> {
  const { claims, closeClock, company, deps, memory, peer } = names.context;
  const beganAt = closeClock.now();
  memory.opened(performance.now());
  deps.intake.assertInTouch(company);
  await deps.intake.assertRoom(company);
  const partials = await company.folders.madePartials(peer.userId);
  const place = deps.node === undefined ? partials : await madePlace(names.context);
  const own = await names.own(name);
  const destination = { names, partials, place, own, name, beganAt };
  const claim = await claims.claim(own.key);
  try {
    await bringHome(names.context, partials, own.name);
    const resumed = await partToResume(destination, flags);
    const upload = newUpload(destination, { flags, resumed, releaseClaim: claim.release });
    claim.attach(upload);
    killPoint("upload.opened");
    return upload;
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** The part to continue, if there is one. Throws when the flags ask for what is not, or not to be, there. */
async function partToResume(destination: Destination, flags: OpenWriteFlags): Promise<Part | undefined> {
  if (flags.exclusive) return await assertFree(destination);
  if (flags.truncate) {
    await dropPart(destination.names.context.disk, destination);
    return undefined;
  }
  const { names, name, own } = destination;
  const part = await openPart(destination);
  if (part !== undefined) return part;
  if (flags.create && !flags.append) return undefined;
  const known = names.completed(name, own) ?? (await names.waiting(name));
  // The client believes that it continues what it has sent already: its tail would become a file.
  if (known !== undefined) throw denied(waitingText);
  if (!flags.create) throw noSuchFile();
  return undefined;
}

async function assertFree({ names, name, own }: Destination): Promise<undefined> {
  const taken = (await names.waiting(name)) ?? (await names.unfinished(own));
  if (taken === undefined) return undefined;
  throw new ExchangeError("alreadyExists", "A file of this name exists already");
}

async function openPart(destination: Destination): Promise<Part | undefined> {
  const { names, place, own } = destination;
  const { disk } = names.context;
  await takePart(names.context, destination);
  const path = place.child(own.name);
  const file = await openRegularFile(path, constants.O_RDWR, disk).catch(unlessMissing);
  if (file === undefined) return undefined;
  if (!hasArrived(file.stats)) return { fd: file.fd, size: file.stats.size };
  // They are never written into. The next upload of the name, or the sweep, removes them.
  await disk.close(file.fd);
  return undefined;
}

function newUpload(
  destination: Destination,
  how: {
    readonly flags: OpenWriteFlags;
    readonly resumed: Part | undefined;
    readonly releaseClaim: () => void;
  },
): Upload {
  const { names, place, own } = destination;
  const { company, deps, disk, memory, transfers, uploadBegins } = names.context;
  const { flags, resumed, releaseClaim } = how;
  memory.forget(own.key);
  uploadBegins.delete(own.key);
  const { space } = deps.intake;
  const failed = (fault: ExchangeError) => deps.intake.refused(company, fault);
  const file = new UploadFile({ disk, space, folder: place, name: own.name, resumed, failed });
  file.begin();
  const content = new UploadContent({
    file,
    ahead: new AheadBytes(disk, place),
    isAppend: flags.append,
    mayStartOver: resumed !== undefined,
    maxBytes: deps.limits.maxUploadBytes,
  });
  const openedSeconds = Math.floor(deps.clock.now() / 1000);
  return new Upload({ content, destination, transfers, openedSeconds, releaseClaim });
}
