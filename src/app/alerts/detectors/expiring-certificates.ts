import { isoTime } from "../../../lib/iso-time.ts";
import { certificateDays } from "../../daemon/tls-material.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { dayMs } from "../../../lib/durations.ts";

/** The nearer the last day, the worse. */
function levelOf(leftMs: number): number {
  if (leftMs < 0) return 4;
  if (leftMs < certificateDays.tomorrow * dayMs) return 3;
  return leftMs < certificateDays.thisWeek * dayMs ? 2 : 1;
}

function whenText(expiresAt: number, leftMs: number): string {
  if (leftMs < 0) return `expired ${isoTime(expiresAt)}: clients refuse it`;
  const days = Math.floor(leftMs / dayMs);
  const left = days < 1 ? "less than a day" : counted(days, "day");
  return `expires ${isoTime(expiresAt)}, ${left} from now`;
}

/** Certificates in use that have expired or soon will, each by what shows it. */
export const detectExpiringCertificates: Detector<"certificateExpiry"> = async ({ settings, now, sources }) =>
  [...sources.certificates]
    .filter(([, expiresAt]) => expiresAt - now < settings.beforeDays * dayMs)
    .map(([endpoint, expiresAt]) => ({
      cause: endpoint,
      summary: `the certificate of ${endpoint === "http" ? "HTTPS" : "FTPS"} ${whenText(expiresAt, expiresAt - now)}`,
      count: 1,
      level: levelOf(expiresAt - now),
      samples: [],
    }));
