import { isoTime } from "../../../lib/iso-time.ts";
import { certificateDays } from "../../daemon/tls-material.ts";
import type { Finding } from "../../../domain/alerts/incident.ts";
import type { Detector, Scan } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { dayMs } from "../../../lib/durations.ts";

type CertificateScan = Scan<"certificateExpiry">;

/** The nearer the last day, the worse. */
function levelOf(leftMs: number): number {
  if (leftMs < 0) return 4;
  if (leftMs < certificateDays.tomorrow * dayMs) return 3;
  return leftMs < certificateDays.thisWeek * dayMs ? 2 : 1;
}

function whenText(expiresAt: number, leftMs: number, whenExpired: string): string {
  if (leftMs < 0) return `expired ${isoTime(expiresAt)}: ${whenExpired}`;
  const days = Math.floor(leftMs / dayMs);
  const left = days < 1 ? "less than a day" : counted(days, "day");
  return `expires ${isoTime(expiresAt)}, ${left} from now`;
}

function ownFindings({ now, sources }: CertificateScan, soonMs: number): readonly Finding[] {
  return [...sources.certificates]
    .filter(([, expiresAt]) => expiresAt - now < soonMs)
    .map(([endpoint, expiresAt]) => {
      const when = whenText(expiresAt, expiresAt - now, "clients refuse it");
      return {
        cause: endpoint,
        summary: `the certificate of ${endpoint === "http" ? "HTTPS" : "FTPS"} ${when}`,
        count: 1,
        level: levelOf(expiresAt - now),
        samples: [],
      };
    });
}

const partnerRemedy =
  "get a new one from whoever made it and put it in place of the file, then `systemctl reload dropgate`; `dropgate check` " +
  "shows until when it is valid";

/** Targets and remotes that share a file are one finding. */
async function partnerFindings(scan: CertificateScan, soonMs: number): Promise<readonly Finding[]> {
  const { now, sources, open } = scan;
  const byFile = Map.groupBy(await sources.partnerCertificates(), ({ file }) => file);
  return [...byFile].flatMap(([file, [first, ...others]]): readonly Finding[] => {
    if (first === undefined) return [];
    const { title, found } = first;
    const known = open.get(file);
    // One that cannot be read at this moment is not valid for longer than it was.
    if ("error" in found) return known === undefined ? [] : [known];
    const leftMs = found.expiresAt - now;
    if (leftMs >= soonMs) return [];
    const more = others.length === 0 ? "" : ` (and of ${counted(others.length, "other")})`;
    const when = whenText(found.expiresAt, leftMs, "the server is not reached");
    const summary = `${title}${more} ${when}`;
    return [{ cause: file, summary, count: 1, level: levelOf(leftMs), samples: [], remedy: partnerRemedy }];
  });
}

/** Certificates in use that have expired or soon will: those of endpoints by their names, those of partners by their files. */
export const detectExpiringCertificates: Detector<"certificateExpiry"> = async (scan) => {
  const soonMs = scan.settings.beforeDays * dayMs;
  return [...ownFindings(scan, soonMs), ...(await partnerFindings(scan, soonMs))];
};
