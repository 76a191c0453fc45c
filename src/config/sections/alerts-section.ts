/** Alerts: who is told of trouble, how, when, and of which (docs/alerts.md). */
import { type TBoolean, type TInteger, type TObject, type TOptional, Type } from "@sinclair/typebox";
import {
  type AlertKindName,
  alertKind,
  alertKindNames,
  type alertKinds,
} from "../../domain/alerts/alert-kinds.ts";
import { flag, integer, list, optional, section, text } from "../reader/setting.ts";
import { timeOfDay, weekdayList } from "./calendar-settings.ts";
import { emailAddress, emailServer, line, sending } from "./email-server.ts";
import { httpsServer } from "./https-server.ts";

type ThresholdName<Name extends AlertKindName> = keyof (typeof alertKinds)[Name]["thresholds"] & string;

type SwitchName = "enabled" | "urgent";

type KindSettings<Name extends AlertKindName> = { [Switch in SwitchName]: TBoolean } & {
  [Threshold in ThresholdName<Name>]: TInteger;
};

type OptionalSettings<Name extends AlertKindName> = { [Switch in SwitchName]: TOptional<TBoolean> } & {
  [Threshold in ThresholdName<Name>]: TOptional<TInteger>;
};

/** Made from the table of kinds, which has the name and type of each setting. */
function kindSettings(name: AlertKindName) {
  const { isUrgent, thresholds } = alertKind(name);
  return {
    enabled: flag("Whether incidents of this kind are looked for.", { default: true }),
    urgent: flag("Whether it is told in quiet hours too.", { default: isUrgent }),
    ...Object.fromEntries(
      Object.entries(thresholds).map(([threshold, { description, default: standard, range }]) => [
        threshold,
        integer(description, { default: standard, range }),
      ]),
    ),
  };
}

/** The same without defaults: what is left out is as in the section `alerts`. */
function ownKindSettings(name: AlertKindName) {
  const { isUrgent, thresholds } = alertKind(name);
  return {
    enabled: optional(flag)(`alerts.kinds.${name}.enabled for this company.`, { example: false }),
    urgent: optional(flag)(`alerts.kinds.${name}.urgent for this company.`, { example: isUrgent }),
    ...Object.fromEntries(
      Object.entries(thresholds).map(([threshold, { default: standard, range }]) => [
        threshold,
        optional(integer)(`alerts.kinds.${name}.${threshold} for this company.`, {
          range,
          example: standard,
        }),
      ]),
    ),
  };
}

const kinds = section(
  "What is looked for, and from when on it is told.",
  Object.fromEntries(
    alertKindNames.map((name) => [name, section(alertKind(name).description, kindSettings(name))]),
  ) as unknown as { [Name in AlertKindName]: TObject<KindSettings<Name>> },
);

const companyKindNames = alertKindNames.filter((name) => alertKind(name).scope !== "operator");

const ownKinds = section(
  "What is looked for in another way in this company.",
  Object.fromEntries(
    companyKindNames.map((name) => [
      name,
      Type.Optional(section(alertKind(name).description, ownKindSettings(name))),
    ]),
  ) as unknown as { [Name in AlertKindName]: TOptional<TObject<OptionalSettings<Name>>> },
);

const quietTime = section("Hours in which only urgent kinds are told.", {
  days: weekdayList("The days on which they begin.", { example: ["sat", "sun"] }),
  from: timeOfDay("Beginning, by the clocks of the zone.", "20:00"),
  to: timeOfDay("End; when it is not later than from, on the next day.", "07:00"),
});

/** Who is told, and when: of the operator as of companies. */
const audience = {
  to: list("E-mail addresses that are told.", text("An address.", emailAddress), {
    default: [],
    maxItems: 20,
    example: ["ops@example.com"],
  }),
  https: Type.Optional(
    section("A web service that is told, with the JSON of docs/alerts.md.", {
      ...httpsServer("Where alerts are posted to.", "https://ops.example.com/hooks/dropgate", "ALERTS"),
      ...sending,
    }),
  ),
  quietHours: list(
    "Hours in which only urgent kinds are told; what else happens comes in one notice when they end.",
    quietTime,
    { default: [], maxItems: 20 },
  ),
};

/** Of one company. */
export const companyAlertsSection = section(
  "Who is told of incidents of this company besides the operator. Without it nobody is.",
  {
    ...audience,
    zone: optional(line)("Time zone (IANA) of quiet hours and of the times in mails; else alerts.zone.", 64, {
      example: "Europe/Berlin",
    }),
    kinds: ownKinds,
  },
);

export const alertsSection = section(
  "Incidents: what is wrong is told when it begins, once a day while it lasts, and when it is over. Nothing is looked for while nobody is to be told.",
  {
    email: Type.Optional(emailServer),
    ...audience,
    zone: line("Time zone (IANA) of quiet hours and of the times in mails.", 64, {
      default: "UTC",
      example: "Europe/Berlin",
    }),
    ofCompanies: flag("Whether the operator is told of incidents of companies too.", { default: true }),
    installation: optional(line)("What mails call this installation; else the name of the machine.", 60, {
      example: "dropgate Hamburg",
    }),
    checkEveryMs: integer("How often incidents are looked for.", {
      default: 60_000,
      range: [1_000, 3_600_000],
    }),
    closeAfterMs: integer(
      "How long a cause has to be gone before its incident is closed. One that comes again within a day is the same incident, and has to be gone for twice as long then, half a day at most.",
      { default: 900_000, range: [0, 86_400_000] },
    ),
    remindAfterHours: integer("After how long an incident that lasts is told again.", {
      default: 24,
      range: [1, 720],
    }),
    maxPerHour: integer(
      "At most so many notices an hour are sent to the operator, and to each company; what comes beyond comes in one notice later. Something urgent that begins or gets worse may take as many again.",
      { default: 10, range: [1, 1_000] },
    ),
    keepDays: integer("How many days incidents that are over, and what was sent of them, are kept.", {
      default: 365,
      range: [7, 3_650],
    }),
    kinds,
  },
);
