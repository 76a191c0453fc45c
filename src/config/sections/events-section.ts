import { flag, integer, section } from "../reader/setting.ts";

export const eventsSection = section("Route events and positions that drivers report.", {
  autoDepart: flag(
    "Whether a confirmation at a stop is the departure from it too, so that drivers need not report it. An event's own autoDepart goes before it.",
  ),
  geofenceRadius: integer(
    "Metres around a stop's address within which a position counts as having entered it, for stops without a stopGeofenceRadius.",
    { default: 200, range: [1, 100_000] },
  ),
  averageSpeedKmh: integer(
    "Speed (km/h) for the times of arrival at stops of loads without prePlannedLoadDistance and prePlannedLoadDuration.",
    { default: 45, range: [1, 200] },
  ),
  etaIntervalMs: integer("Least time between two calculations of a load's times of arrival.", {
    default: 30_000,
    range: [0, 3_600_000],
  }),
  maxAheadHours: integer(
    "How far ahead of this machine's clock the time of an event or a position may be; one from a clock that is wrong by more is refused (904). Clocks of time zones differ by up to 26 hours.",
    { default: 48, range: [1, 87_600] },
  ),
});
