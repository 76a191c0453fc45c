import { type TInteger, type TOptional, Type } from "@sinclair/typebox";
import { integer, list, section, text } from "../reader/setting.ts";
import { closedDays, timeUpToEndOfDay, weekdayList } from "./calendar-settings.ts";

/** What is left out is not limited. */
function limit(description: string): TOptional<TInteger> {
  return Type.Optional(integer(description, { range: [0, 1_000_000_000] }));
}

const capacity = section(
  "What the window takes on each day. At least one is named; each that is named must hold, the others are not limited.",
  {
    appointments: limit("How many appointments the window takes."),
    quantity: limit("Sum of quantity over the appointments of the window."),
    weight: limit("Sum of weight, in the unit that hosts send."),
    volume: limit("Sum of volume, in the unit that hosts send."),
    serviceMinutes: limit("Sum of serviceTime, in minutes."),
  },
);

const window = section("A time of day that is offered as one slot.", {
  from: timeUpToEndOfDay("Beginning, local time of the region.", "08:00"),
  to: timeUpToEndOfDay("End, local time of the region; 24:00 is the end of the day.", "12:00"),
  capacity,
});

/** Codes of countries, beginnings of postal codes, codes of partners, attributes. */
function codes(description: string, example: readonly string[]) {
  const item = text("A code.", {
    maxLength: 50,
    pattern: "^\\S(.*\\S)?$",
    form: "text without blanks at its ends, in quotes when it looks like a number",
  });
  return list(description, item, { default: [], maxItems: 2_000, example });
}

const region = section(
  "A region in which appointments are offered. The first one that an address matches counts.",
  {
    name: text("Unique in the company; hosts see it as serviceRegion.", {
      example: "Springfield",
      maxLength: 60,
      pattern: "^[^\\s\\x00-\\x1f\\x7f]([^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?$",
      form: "text without control characters and without blanks at its ends",
    }),
    zone: text("IANA time zone of the region's windows.", {
      example: "America/Chicago",
      maxLength: 64,
      pattern: "^[A-Za-z][A-Za-z0-9_+/-]*$",
      form: "an IANA time zone such as America/Chicago",
    }),
    countries: codes("Countries, as hosts send them, in any case. Empty: any, or none.", ["US"]),
    zipPrefixes: codes("Beginnings of postal codes; blanks and case do not count. Empty: any, or none.", [
      "627",
    ]),
    partners: codes("Codes of business partners (partnerCode of the request). Empty: any, or none.", []),
    schedulingAttributes: codes("Values of schedulingAttribute. Empty: any, or none.", []),
    weekdays: weekdayList("Days of the week on which its windows are offered."),
    windows: list("The windows of each day; no two of them begin at the same time.", window, {
      maxItems: 96,
      example: [
        {
          from: "08:00",
          to: "12:00",
          capacity: { appointments: 20, quantity: 400, weight: 9000, volume: 60, serviceMinutes: 480 },
        },
      ],
    }),
  },
);

export const appointmentsSection = section(
  "Appointments: regions, their time windows, and what these take.",
  {
    holdMinutes: integer("How long a reservation for an order that is not there yet is held (apptTTL).", {
      default: 30,
      range: [1, 1_440],
    }),
    horizonDays: integer("How many days ahead of today slots are offered; 0 is today alone.", {
      default: 14,
      range: [0, 366],
    }),
    leadMinutes: integer("How long before its beginning a slot can be booked at the latest.", {
      default: 0,
      range: [0, 527_040],
    }),
    closedDays: closedDays("Days on which nothing is offered, in the zone of each region."),
    regions: list("Where appointments are offered, in the order in which they are tried.", region, {
      default: [],
      maxItems: 500,
    }),
  },
);
