/**
 * Whether there is room for more files: space on the disk, and places in the line of the company. One for all ways in, so
 * that what is not taken leaves a trace however it would have come.
 *
 *   room ──first refusal: logged──> none ──room again, and nothing refused for a while: logged with the count──> room
 *
 * An upload is refused, and counted; a file of a folder or a remote stays where it is and comes when there is room again.
 */
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import { ExchangeError, exchangeErrorOf } from "../exchange-session.ts";
import type { DiskSpace } from "./disk-space.ts";

export type NoRoomReason = "noSpace" | "tooManyWaiting";

export interface IntakeCompany {
  readonly id: number;
  readonly code: string;
}

/** A lack that lasts. */
export interface NoRoom {
  readonly reason: NoRoomReason;
  /** Undefined for all: the disk is one. */
  readonly company: string | undefined;
  readonly message: string;
  /** Milliseconds UTC. */
  readonly since: number;
  /** Uploads refused meanwhile. */
  readonly refused: number;
}

/** Uploads refused since the start. */
export interface RefusedUploads {
  readonly company: string;
  readonly reason: NoRoomReason;
  readonly count: number;
}

interface IntakeDeps {
  readonly space: DiskSpace;
  readonly maxWaiting: () => number;
  readonly waitingCount: (companyId: number) => number;
  /** Whether this node can tell the one that has the company of no file, because the database does not answer; never unless given. */
  readonly isCutOff?: ((companyId: number) => boolean) | undefined;
  readonly clock: Clock;
  readonly log: Pick<LimitedLog, "info" | "warn">;
  /** How often it checks whether a lack is over. */
  readonly pollMs?: number;
}

interface Lack {
  readonly reason: NoRoomReason;
  readonly company: IntakeCompany | undefined;
  readonly message: string;
  readonly since: number;
  refused: number;
  lastAt: number;
}

const usualPollMs = 5_000;
/** A lack that comes and goes is one. */
const quietMs = 10_000;

const remedies: Readonly<Record<NoRoomReason, string>> = {
  noSpace: "make room on the disk of the state directory, or lower storage.minFree",
  tooManyWaiting: "find out why files wait (`dropgate files --state waiting`), or raise inbound.maxWaiting",
};

/** Does work of an upload. A lack of room leaves a trace, at whatever moment of the upload it shows. */
export async function traced<T>(
  intake: Pick<Intake, "refused">,
  company: IntakeCompany,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refusal = exchangeErrorOf(error);
    intake.refused(company, refusal);
    throw refusal;
  }
}

/** The intake. `stop` ends its timer, which keeps no process alive. */
export class Intake {
  readonly space: DiskSpace;
  readonly #deps: IntakeDeps;
  readonly #lacks = new Map<string, Lack>();
  readonly #counts = new Map<string, RefusedUploads>();
  readonly #counted = new WeakSet<ExchangeError>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.space = deps.space;
  }

  /** Throws `noSpace` or `tooManyWaiting`. The caller hands the refusal of an upload to `refused`. */
  async assertRoom({ id }: IntakeCompany): Promise<void> {
    await this.space.assertEnough();
    const most = this.#deps.maxWaiting();
    if (this.#deps.waitingCount(id) < most) return;
    throw new ExchangeError("tooManyWaiting", `${most} files wait to be processed already; try again later`);
  }

  /**
   * Throws while the node is cut off from the one that has the company: a file that it took would lie in the tree with nobody who
   * knows of it, and the others of the company would wait for it where they are taken over.
   */
  assertInTouch({ id }: IntakeCompany): void {
    if (this.#deps.isCutOff?.(id) !== true) return;
    throw new ExchangeError(
      "failure",
      "This server cannot reach its database; send the file again in a moment",
    );
  }

  /** For a file that can stay where it is: why it has to, if it has. */
  async whyNoRoom(company: IntakeCompany): Promise<string | undefined> {
    try {
      await this.assertRoom(company);
      return undefined;
    } catch (error) {
      if (!(error instanceof ExchangeError) || !isNoRoom(error.kind)) throw error;
      return this.#lackFor(error.kind, company, error).message;
    }
  }

  /** An upload was refused, or failed, for this reason. Each error counts once; those for other reasons do not. */
  refused(company: IntakeCompany, error: ExchangeError): void {
    if (!isNoRoom(error.kind) || this.#counted.has(error)) return;
    this.#counted.add(error);
    this.#lackFor(error.kind, company, error).refused += 1;
    const key = `${error.kind} ${company.code}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { company: company.code, reason: error.kind, count });
  }

  /** What lasts at this moment. */
  current(): readonly NoRoom[] {
    return [...this.#lacks.values()].map(({ reason, company, message, since, refused }) => ({
      ...{ reason, message, since, refused },
      company: company?.code,
    }));
  }

  counts(): readonly RefusedUploads[] {
    return [...this.#counts.values()];
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #lackFor(reason: NoRoomReason, company: IntakeCompany, error: ExchangeError): Lack {
    const key = reason === "noSpace" ? reason : `${reason} ${company.id}`;
    const now = this.#deps.clock.now();
    const known = this.#lacks.get(key);
    if (known !== undefined) {
      known.lastAt = now;
      return known;
    }
    const ofCompany = reason === "noSpace" ? undefined : company;
    const message = `${messageOf(error)} (${reason === "noSpace" ? "storage.minFree" : "inbound.maxWaiting"})`;
    const lack: Lack = { reason, company: ofCompany, message, since: now, refused: 0, lastAt: now };
    this.#lacks.set(key, lack);
    const fields = { reason, company: ofCompany?.code, message, remedy: remedies[reason] };
    this.#deps.log.warn(
      { ...fields, ...(error.cause === undefined ? {} : { err: error }) },
      "no more files are taken: uploads are refused, files of folders and remotes stay where they are",
    );
    this.#timer ??= setInterval(() => void this.#recheck(), this.#deps.pollMs ?? usualPollMs).unref();
    return lack;
  }

  async #recheck(): Promise<void> {
    for (const [key, lack] of this.#lacks) if (await this.#isOver(lack)) this.#end(key, lack);
    if (this.#lacks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #isOver({ reason, company, lastAt }: Lack): Promise<boolean> {
    if (this.#deps.clock.now() - lastAt < quietMs) return false;
    if (reason === "tooManyWaiting")
      return company === undefined || this.#deps.waitingCount(company.id) < this.#deps.maxWaiting();
    return await this.space.assertEnough().then(
      () => true,
      () => false, // the log line at its beginning says why
    );
  }

  #end(key: string, { reason, company, refused, since }: Lack): void {
    this.#lacks.delete(key);
    const forMs = this.#deps.clock.now() - since;
    this.#deps.log.info(
      { reason, company: company?.code, refusedUploads: refused, forMs },
      "files are taken again",
    );
  }
}

function isNoRoom(kind: ExchangeError["kind"]): kind is NoRoomReason {
  return kind === "noSpace" || kind === "tooManyWaiting";
}
