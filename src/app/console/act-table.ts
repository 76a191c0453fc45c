/** All acts of the console, and how one is run. */
import type { ConsoleActs, ConsoleLooks } from "../../endpoints/http/console/console-acts.ts";
import type { ActName, ConsoleServices, LookName } from "../../endpoints/http/console/console-services.ts";
import type { ConsoleUser } from "../../endpoints/http/console/console-user.ts";
import type { ActContext } from "./act-context.ts";
import { lookAtBans, liftBan } from "./acts/bans.ts";
import { lookAtRefusedSignIns } from "./acts/refused-sign-ins.ts";
import {
  giveUpDeliveriesByGuid,
  resendDeliveriesByGuid,
  retryDeliveriesByGuid,
} from "./acts/repeat-deliveries.ts";
import { addCompany } from "./acts/companies.ts";
import { deliverExportAgain } from "./acts/export-again.ts";
import { findRequest } from "./acts/find-request.ts";
import { pauseRemote, pauseTarget, resumeRemote, resumeTarget } from "./acts/pauses.ts";
import { pollRemote } from "./acts/poll-remote.ts";
import { rehearseRetries } from "./acts/rehearse-retry.ts";
import { releaseHeldDeliveries } from "./acts/release-deliveries.ts";
import { retryFilesByReference } from "./acts/retry-files.ts";
import { retryTargetAtOnce } from "./acts/retry-target.ts";
import { createSeenNotes } from "./note-seen.ts";
import { tryDocument } from "./acts/try-document.ts";
import {
  addUserKey,
  addUserToCompany,
  disableUser,
  enableUser,
  removeUserKey,
  setUserPassword,
  setUserRoles,
} from "./acts/users.ts";
import { lookAtFolders } from "./acts/folders.ts";
import { lookAtUncollected } from "./acts/uncollected.ts";
import { verifyLedgerNow } from "./acts/verify-ledger.ts";
import { type ActBy, beginAct, type RunningAct } from "./running-act.ts";

/** Does it. Rejects with `ActRefused` or `DropgateError` when nothing of it can be done. */
export type RunAct<Name extends ActName> = (
  act: RunningAct,
  asked: ConsoleActs[Name]["asked"],
) => Promise<ConsoleActs[Name]["done"]>;

const acts: { readonly [Name in ActName]: RunAct<Name> } = {
  "file.retry": retryFilesByReference,
  "delivery.retry": retryDeliveriesByGuid,
  "delivery.resend": resendDeliveriesByGuid,
  "delivery.giveUp": giveUpDeliveriesByGuid,
  "deliveries.release": releaseHeldDeliveries,
  "target.retry": retryTargetAtOnce,
  "target.pause": pauseTarget,
  "target.resume": resumeTarget,
  "remote.pause": pauseRemote,
  "remote.resume": resumeRemote,
  "remote.poll": pollRemote,
  "export.again": deliverExportAgain,
  "ban.lift": liftBan,
  "company.add": addCompany,
  "user.add": addUserToCompany,
  "user.roles": setUserRoles,
  "user.enable": enableUser,
  "user.disable": disableUser,
  "user.password": setUserPassword,
  "user.addKey": addUserKey,
  "user.removeKey": removeUserKey,
  "ledger.verify": verifyLedgerNow,
};

type RunLook<Name extends LookName> = (
  context: ActContext,
  user: ConsoleUser,
  asked: ConsoleLooks[Name]["asked"],
) => Promise<ConsoleLooks[Name]["done"]>;

const looks: { readonly [Name in LookName]: RunLook<Name> } = {
  "file.retry": rehearseRetries,
  "host.trial": tryDocument,
  bans: lookAtBans,
  "user.refused": lookAtRefusedSignIns,
  request: findRequest,
  uncollected: lookAtUncollected,
  folders: lookAtFolders,
};

/** Acts, looks and notes of what was seen, as the pages use them. */
export function createConsoleActs(context: ActContext): Pick<ConsoleServices, "act" | "look" | "noteSeen"> {
  return {
    act: (name, by: ActBy, asked) => acts[name](beginAct(context, name, by), asked),
    look: (name, user, asked) => looks[name](context, user, asked),
    noteSeen: createSeenNotes(context),
  };
}
