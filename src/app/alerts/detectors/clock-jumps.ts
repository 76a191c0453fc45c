import { isoTime } from "../../../lib/iso-time.ts";
import { findNewestTime } from "../../../store/database/newest-time.ts";
import { findPruneClock } from "../../../store/database/prune-clock.ts";
import { judgeClock, jumpText } from "../../retention/clock-guard.ts";
import type { Detector } from "../detector.ts";
import { lasting } from "./finding-text.ts";
import { minuteMs } from "../../../lib/durations.ts";

/** The clock has jumped more than a day ahead, or is behind the newest time that is written in the state. */
export const detectClockJumps: Detector<"clockJump"> = async ({ settings, read, now }) => {
  const look = judgeClock(await findPruneClock(read), now);
  if (look.kind === "jumped") return [{ cause: "ahead", summary: jumpText(look), count: 1, samples: [] }];
  const newest = await findNewestTime(read);
  const behindMs = (newest?.at ?? now) - now;
  if (newest === undefined || behindMs < settings.behindMinutes * minuteMs) return [];
  const finding = {
    cause: "behind",
    summary: `the clock shows ${isoTime(now)}, ${lasting(behindMs)} before ${isoTime(newest.at)}, when ${newest.what}`,
    count: 1,
    samples: [],
    remedy:
      "`timedatectl` shows whether the clock is right: set it. If it was ahead before, `dropgate deliveries --state " +
      "waiting` lists what waits for the wrong time, and `dropgate delivery retry` sends it",
  };
  return [finding];
};
