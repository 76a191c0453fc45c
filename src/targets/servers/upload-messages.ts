/**
 * The messages between an upload target and its thread, besides those of all such threads (`src/remote/thread-jobs.ts`).
 *
 *   target → thread   deliver, probe   a job
 *                     bytes, noBytes   one file of it, as it was asked for, or that it cannot be read
 *   thread → target   step             what the job is at, for the words of a time-out
 *                     want             the bytes of one file, and only then: big exports are not kept in memory twice
 */
import type { OpeningStep } from "../../remote/remote-session.ts";
import type { ServerSettings } from "../../remote/server-settings.ts";

export interface UploadSettings {
  readonly server: ServerSettings;
  /** The target's folder on the server; undefined is where the sign-in leads. */
  readonly directory: string | undefined;
  readonly makeFolders: boolean;
}

export interface UploadFile {
  readonly name: string;
  readonly temporaryName: string;
}

/** A file under its temporary name that an earlier job may have left. */
export interface Leftover {
  readonly directory: string | undefined;
  readonly temporaryName: string;
}

export interface UploadJob {
  readonly directory: string | undefined;
  readonly files: readonly UploadFile[];
  readonly leftovers: readonly Leftover[];
}

export type ToThread =
  | { readonly kind: "deliver"; readonly id: number; readonly job: UploadJob }
  | { readonly kind: "probe"; readonly id: number; readonly job: UploadJob }
  | { readonly kind: "bytes"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "noBytes"; readonly id: number };

export type UploadStep = OpeningStep | "looking at the folder" | "uploading" | "renaming";

export type FromThread =
  | { readonly kind: "step"; readonly id: number; readonly step: UploadStep }
  | { readonly kind: "want"; readonly id: number; readonly index: number };
