/** The watch that tells of incidents, with all that it looks at. */
import { AlertWatch } from "../alerts/alert-watch.ts";
import { detectors } from "../alerts/detectors.ts";
import type { BackupSchedule } from "../watch/backup-schedule.ts";
import { countRefusedSignIns } from "../watch/refused-sign-ins.ts";
import { countRefusedUploads } from "../watch/refused-uploads.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { ownWorkOf } from "./own-work.ts";
import { createPartnerCertificates } from "./partner-certificates.ts";
import type { Parts } from "./daemon-parts.ts";

/** Looks from its start on. */
export function alertWatchFor(parts: Parts, backups: BackupSchedule): AlertWatch {
  const { store, clock, log, signIn, intake } = parts;
  const refusedSignIns = countRefusedSignIns(() => signIn.statistics());
  const refusedUploads = countRefusedUploads(() => intake.counts());
  const refusedSinceScan = countRefusedUploads(() => intake.counts());
  const counts = { refusedSignIns, refusedUploads, refusedSinceScan };
  const config = () => parts.config;
  const companyCodes = async () => (await listCompanies(store.read)).map(({ code }) => code);
  const partnerCertificates = createPartnerCertificates({ config, companyCodes });
  const sources = { ...parts, ...counts, backups, partnerCertificates, config };
  const { isOurs } = ownWorkOf(parts);
  return new AlertWatch({ store, clock, log, detectors, sources, isOurs });
}
