/** What can be done in the console, by name: what is asked, and what is told of it afterwards. */
import type { ImportKindName } from "../../../domain/fields/import-kind.ts";
import type { DecidedState, FileState } from "../../../domain/files/file-state.ts";
import type { Fault } from "../../../lib/errors.ts";
import type { ShownFolder } from "./pages/remotes/remotes-view.ts";
import type { RefusedSignIn } from "../../../sign-in/refused-sign-ins.ts";

export interface Act<Asked, Done> {
  readonly asked: Asked;
  readonly done: Done;
}

/** Whoever agrees to something has seen how it stood at that moment: what has changed since is not done. */
export interface Seen {
  /** When the page was made, milliseconds UTC. */
  readonly seenAt: number;
}

/** Several of a kind, which their references name: each is done that still can be. */
export interface SeveralAsked extends Seen {
  readonly of: readonly string[];
}

export interface NotDone {
  readonly why: string;
  /** Their references. */
  readonly of: readonly string[];
}

export interface SeveralDone {
  readonly done: number;
  readonly notDone: readonly NotDone[];
}

/** One thing of which there is one by that name in a company, such as a target. */
export interface NamedAsked extends Seen {
  readonly name: string;
}

/** The most that is done at once; who wants more asks again for the rest. */
export const mostAtOnce = 500;

/** It cannot be done: there is no such thing for who asks, or it is not any more what it was. The message is shown. */
export class ActRefused extends Error {
  readonly kind: "unknown" | "changed";

  constructor(kind: "unknown" | "changed", message: string) {
    super(message);
    this.name = "ActRefused";
    this.kind = kind;
  }
}

/** A user of a company that who asks administers, or any for operators. */
export interface UserAsked {
  readonly userId: number;
  /** It was agreed to that a company, the installation or who asks loses its administrator. */
  readonly isAgreed: boolean;
}

export interface UserRolesAsked extends UserAsked {
  readonly companyId: number;
  /** All that the user is to have there; none takes it out of the company. */
  readonly roles: readonly string[];
  /** Those that were shown. */
  readonly before: readonly string[];
}

export interface NewUserAsked {
  readonly companyId: number;
  readonly userName: string;
  readonly roles: readonly string[];
  /** A line of `authorized_keys`; without one the user gets a password. */
  readonly publicKey: string | undefined;
  /** The user has to set another password before anything else. */
  readonly mustChange: boolean;
}

export interface NewCompanyAsked {
  readonly code: string;
  /** Of people; empty for none. */
  readonly name: string;
}

/** Nothing is done while somebody would be lost by it who was not agreed to. */
export type UserChanged =
  | { readonly kind: "done" }
  | {
      readonly kind: "toBeAgreed";
      /** Codes of those that nobody would administer. */
      readonly companies: readonly string[];
      readonly isLastOperator: boolean;
      readonly isOneself: boolean;
    };

export interface AddedUser {
  readonly userId: number;
  /** Generated, to be shown once; undefined for a user with a key. */
  readonly password?: string;
}

/** Acts; each page adds those that it has. An act without a company is one of operators. */
export interface ConsoleActs {
  /** Tries refused and superseded files again, by their references. */
  readonly "file.retry": Act<SeveralAsked, SeveralDone>;
  /** Tries dead deliveries again, and waiting ones at once, by their GUIDs. */
  readonly "delivery.retry": Act<SeveralAsked, SeveralDone>;
  /** Sends delivered files once more. */
  readonly "delivery.resend": Act<SeveralAsked, SeveralDone>;
  readonly "delivery.giveUp": Act<SeveralAsked, SeveralDone>;
  /** Lets deliveries go out that are held since a restore. */
  readonly "deliveries.release": Act<Seen, { readonly targets: number }>;
  /** Ends the pause of a target that failed, and tries at once what waits for it. */
  readonly "target.retry": Act<NamedAsked, { readonly hastened: number }>;
  /** Until somebody resumes it. */
  readonly "target.pause": Act<NamedAsked, undefined>;
  readonly "target.resume": Act<NamedAsked, undefined>;
  readonly "remote.pause": Act<NamedAsked, undefined>;
  readonly "remote.resume": Act<NamedAsked, undefined>;
  /** Asks for a round of a remote at once. */
  readonly "remote.poll": Act<NamedAsked, undefined>;
  /** Delivers an export once more, with the same files. */
  readonly "export.again": Act<NamedAsked & { readonly sequenceNbr: number }, { readonly delivery: string }>;
  /** Lifts the ban of an address or network. */
  readonly "ban.lift": Act<NamedAsked, undefined>;
  /** Registers a company and makes its folders. */
  readonly "company.add": Act<NewCompanyAsked, { readonly code: string }>;
  readonly "user.add": Act<NewUserAsked, AddedUser>;
  readonly "user.roles": Act<UserRolesAsked, UserChanged>;
  readonly "user.enable": Act<UserAsked, UserChanged>;
  readonly "user.disable": Act<UserAsked, UserChanged>;
  readonly "user.password": Act<UserAsked & { readonly mustChange: boolean }, { readonly password: string }>;
  readonly "user.addKey": Act<UserAsked & { readonly publicKey: string }, undefined>;
  readonly "user.removeKey": Act<UserAsked & { readonly fingerprint: string }, undefined>;
  /** Begins to verify the ledger, in a process of its own; false when that is under way. */
  readonly "ledger.verify": Act<object, { readonly isBegun: boolean }>;
}

/** What differs in a field of a stop; values of JSON, undefined where the field is not. */
export interface ShownDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ShownChange {
  readonly stopNbr: string;
  readonly effect: "created" | "updated" | "deleted" | "none";
  readonly statusBefore: string | null;
  readonly statusAfter: string | null;
  readonly fields: readonly ShownDifference[];
}

/** What a retry of a file would come to at this moment. */
export interface RetryRehearsal {
  readonly reference: string;
  readonly name: string;
  readonly company: { readonly id: number; readonly code: string };
  readonly state: FileState;
  readonly faultsBefore: readonly Fault[];
  /** Why it cannot be tried again; undefined when it can. */
  readonly why: string | undefined;
  /** Undefined when it cannot be tried again. */
  readonly outcome:
    | {
        readonly state: "applied" | "refused" | "duplicate" | "superseded";
        readonly faults: readonly Fault[];
        readonly changes: readonly ShownChange[];
      }
    | undefined;
}

/** The largest text of an import that is tried, in bytes. */
export const largestTriedImport = 256 * 1024;

export interface TrialAsked {
  readonly companyId: number;
  /** The name of the file; empty when only the document is to be tried. */
  readonly name: string;
  /** XML of a stop document, or JSON of an import; whatever a custom integration takes. */
  readonly text: string;
  /** The custom integration that makes an import of it; undefined for none. */
  readonly service: string | undefined;
  /** Which import that is for; undefined: by the list that the document has. */
  readonly as: ImportKindName | undefined;
}

/** A load or an order of an import that is tried. */
export interface ShownEntityChange {
  readonly kind: "load" | "order";
  readonly number: string;
  /** `refused`: not at once, but when it is applied. */
  readonly effect: "created" | "updated" | "none" | "refused";
  readonly faults: readonly Fault[];
  readonly fields: readonly ShownDifference[];
}

/** What would become of it at this moment. Nothing of it is kept. */
export interface TrialDone {
  /** `accepted`: an import without faults. */
  readonly state: DecidedState | "accepted";
  /** Undefined of a stop document. */
  readonly importKind: ImportKindName | undefined;
  readonly faults: readonly Fault[];
  readonly changes: readonly ShownChange[];
  /** Of an import of loads or orders. */
  readonly entities: readonly ShownEntityChange[];
  /** Loads of which is not told what would come of them. */
  readonly untried: number;
  /** What the integration has made of the text; undefined without one. */
  readonly mapped: string | undefined;
  /** Of a duplicate: when the file that counts was decided about, and as what. */
  readonly first: { readonly state: string; readonly decidedAt: number | null } | undefined;
  /** Of a duplicate: what would be decided about it under a new time. */
  readonly underNewTime: DecidedState | undefined;
}

export interface ShownRefusedSignIn extends RefusedSignIn {
  /** Until when the address is banned; undefined when it is not. */
  readonly bannedUntil: number | undefined;
}

export interface ShownBan {
  /** The address or network, as it is counted. */
  readonly name: string;
  readonly until: number;
  /** How many bans it has had lately, with this one. */
  readonly count: number;
}

export interface RequestAsked {
  /** As the header `X-Request-Id` of the answer. */
  readonly requestId: string;
}

/** A request, and how it was answered. */
export interface FoundRequest {
  readonly requestId: string;
  /** Milliseconds UTC. */
  readonly at: number;
  readonly method: string;
  /** The name of its operation or page; undefined when there was none. */
  readonly route: string | undefined;
  readonly user: string | undefined;
  readonly company: string | undefined;
  /** 0: there was nobody to answer. */
  readonly status: number;
  readonly durationMs: number;
}

export interface UncollectedDeliveries {
  /** Of the companies at which the user may look. */
  readonly ids: readonly number[];
}

/**
 * What only the process of the daemon knows, by name: rehearsals, which are undone at once, and what is in its memory.
 * Companies that the user may not act for have nothing of it.
 */
export interface ConsoleLooks {
  /** Those that there are, in the order of the references. */
  readonly "file.retry": Act<{ readonly of: readonly string[] }, readonly RetryRehearsal[]>;
  /** What would become of a document; for who may see what the hosts of the company do. */
  readonly "host.trial": Act<TrialAsked, TrialDone>;
  /** Why the user was not let in lately; nothing of users whom who asks does not administer. */
  readonly "user.refused": Act<{ readonly userId: number }, readonly ShownRefusedSignIn[]>;
  /** For operators alone. */
  readonly bans: Act<object, readonly ShownBan[]>;
  /** One of the last requests over HTTP; undefined for one that is not known, or of another company. */
  readonly request: Act<RequestAsked, FoundRequest | undefined>;
  /** Deliveries whose files lie in `outbound/` longer than they may, as the last scan has found them. */
  readonly uncollected: Act<object, UncollectedDeliveries>;
  /** How the folders stand that are scanned for the companies at which the user may look. */
  readonly folders: Act<object, readonly ShownFolder[]>;
}
