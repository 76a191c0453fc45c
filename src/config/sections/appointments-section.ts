import { type TInteger, type TOptional, Type } from "@sinclair/typebox";
import { weekdays } from "../../domain/appointments/appointment-region.ts";
import { choice, integer, list, section, text } from "../reader/setting.ts";

function timeOfDay(description: string, example: string) {
  return text({
    description,
    example,
    maxLength: 5,
    pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
    form: "a time of day such as 08:00",
  });
}

/** What is left out is not limited. */
function limit(description: string): TOptional<TInteger> {
  return Type.Optional(integer({ range: [0, 1_000_000_000], description }));
}

const capacity = section(
  {
    appointments: limit("How many appointments the window takes."),
    quantity: limit("Sum of quantity over the appointments of the window."),
    weight: limit("Sum of weight, in the unit that hosts send."),
    volume: limit("Sum of volume, in the unit that hosts send."),
    serviceMinutes: limit("Sum of serviceTime, in minutes."),
  },
  {
    description:
      "What the window takes on each day. At least one is named; each that is named must hold, the others are not limited.",
  },
);

const window = section(
  {
    from: timeOfDay("Beginning, local time of the region.", "08:00"),
    to: timeOfDay("End, local time of the region; 24:00 is the end of the day.", "12:00"),
    capacity,
  },
  { description: "A time of day that is offered as one slot." },
);

/** Codes of countries, beginnings of postal codes, codes of partners, attributes. */
function codes(description: string, example: readonly string[]) {
  const item = text({
    description: "A code.",
    maxLength: 50,
    pattern: "^\\S(.*\\S)?$",
    form: "text without blanks at its ends, in quotes when it looks like a number",
  });
  return list(item, { default: [], maxItems: 2_000, example, description });
}

const region = section(
  {
    name: text({
      description: "Unique in the company; hosts see it as serviceRegion.",
      example: "Springfield",
      maxLength: 60,
      pattern: "^[^\\s\\x00-\\x1f\\x7f]([^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?$",
      form: "text without control characters and without blanks at its ends",
    }),
    zone: text({
      description: "IANA time zone of the region's windows.",
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
    weekdays: list(choice(weekdays, { description: "A day of the week." }), {
      default: [...weekdays],
      maxItems: 7,
      description: "Days of the week on which its windows are offered.",
    }),
    windows: list(window, {
      maxItems: 96,
      description: "The windows of each day; no two of them begin at the same time.",
      example: [
        {
          from: "08:00",
          to: "12:00",
          capacity: { appointments: 20, quantity: 400, weight: 9000, volume: 60, serviceMinutes: 480 },
        },
      ],
    }),
  },
  {
    description: "A region in which appointments are offered. The first one that an address matches counts.",
  },
);

export const appointmentsSection = section(
  {
    holdMinutes: integer({
      default: 30,
      range: [1, 1_440],
      description: "How long a reservation for an order that is not there yet is held (apptTTL).",
    }),
    horizonDays: integer({
      default: 14,
      range: [0, 366],
      description: "How many days ahead of today slots are offered; 0 is today alone.",
    }),
    leadMinutes: integer({
      default: 0,
      range: [0, 527_040],
      description: "How long before its beginning a slot can be booked at the latest.",
    }),
    closedDays: list(
      text({
        description: "A date.",
        maxLength: 10,
        pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        form: "a date such as 2026-12-25",
      }),
      {
        default: [],
        maxItems: 2_000,
        example: ["2026-12-25"],
        description: "Days on which nothing is offered, in the zone of each region.",
      },
    ),
    regions: list(region, {
      default: [],
      maxItems: 500,
      description: "Where appointments are offered, in the order in which they are tried.",
    }),
  },
  { description: "Appointments: regions, their time windows, and what these take." },
);
