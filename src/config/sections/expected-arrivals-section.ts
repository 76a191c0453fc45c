/** How many files of a company are expected until when. */
import { stopFunctions } from "../../domain/stop/stop-change.ts";
import { choice, integer, list, map, optional, section, text } from "../reader/setting.ts";
import { closedDays, timeOfDay, timeUpToEndOfDay, weekdayList } from "./calendar-settings.ts";
import { nameKeys, plain } from "./server-section.ts";

/** Which files count; the same as the options of `dropgate files`. */
const counted = {
  name: optional(plain)("Only files of that name count; * stands for any characters, ? for one.", 200, {
    example: "1*.xml",
  }),
  functions: list(
    'Only files whose first Stop has one of these Functions count, as in "01"; with the quotes. Empty: any. It is known as soon as the file is decided.',
    choice("A Function.", stopFunctions),
    { default: [], maxItems: stopFunctions.length },
  ),
  channel: optional(text)(
    "Only files that came this way count; remote is any remote, remote:NAME one of them.",
    {
      maxLength: 60,
      pattern: "^(sftp|ftp|folder|recovered|remote(:[a-z0-9][a-z0-9-]{0,39})?)$",
      form: "sftp, ftp, folder, recovered, remote or remote:NAME",
      example: "sftp",
    },
  ),
  user: optional(plain)("Only files that this user has uploaded count.", 100, { example: "host1" }),
};

const expectation = section("One expectation: so many files until a time of day.", {
  atLeast: integer("How many files have to arrive.", { default: 1, range: [1, 1_000_000], example: 2 }),
  until: timeUpToEndOfDay("When they have to be there, local time; 24:00 is the end of the day.", "07:00"),
  from: optional(timeOfDay)(
    "When the count begins, local time: a time that is not before until is that of the day before. Without it, at midnight.",
    "18:00",
  ),
  zone: plain("Time zone (IANA) of its times and days.", 64, { default: "UTC", example: "Europe/Berlin" }),
  weekdays: weekdayList("Days of the week on which they are expected, those of until."),
  closedDays: closedDays("Days on which none are expected, in the zone."),
  ...counted,
});

export const expectedArrivalsSection = map(
  "Files that are expected, by names of your choice: `dropgate arrivals` shows how each expectation stands, and an alert tells when it is not met.",
  expectation,
  { ...nameKeys, example: "morning" },
);
