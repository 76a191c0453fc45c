/** What the rules share: their faults, and those that several of them find. */
import { sep } from "node:path";
import { readCronSchedule } from "../../domain/time/cron-schedule.ts";
import { isTimeZone } from "../../domain/time/local-time.ts";
import { zoneAbbreviations } from "../../domain/time/zoned-time.ts";
import type { Config } from "../schema.ts";

export interface RuleFault {
  readonly path: string;
  readonly message: string;
  /** The other setting, to be shown when the first does not stand in the file. */
  readonly otherPath?: string;
}

/** A target, export or remote, and the path of its settings. */
export interface Placed<T> {
  readonly settings: T;
  readonly path: string;
}

type Company = Config["companies"][string];

/** What a section gives in each company that has it; `path` is that of the section. */
export function ofEachCompany<Name extends keyof Company, Found = RuleFault>(
  { companies }: Config,
  name: Name,
  find: (section: NonNullable<Company[Name]>, path: string) => Found[],
): Found[] {
  return Object.entries(companies).flatMap(([code, { [name]: section }]) =>
    section === undefined ? [] : find(section, `companies.${code}.${name}`),
  );
}

export function placedIn<T>(sections: Readonly<Record<string, T>>, path: string): Placed<T>[] {
  return Object.entries(sections).map(([name, settings]) => ({ settings, path: `${path}.${name}` }));
}

/** The fault, if it is one. */
export function when(isBroken: boolean, fault: RuleFault): RuleFault[] {
  return isBroken ? [fault] : [];
}

/** Whether a path is the folder or lies in it; both are absolute. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Whether it is an IANA zone. An abbreviation means one offset all the year, whatever the clocks do. */
export function isRegionalZone(zone: string): boolean {
  return zone === "UTC" || (isTimeZone(zone) && !zoneAbbreviations.includes(zone));
}

/** Checks the settings `zone` and, if there is one, `schedule` of a section. */
export function checkTimes(
  { zone, schedule }: { readonly zone: string; readonly schedule?: string | undefined },
  path: string,
): RuleFault[] {
  const reading = schedule === undefined ? undefined : readCronSchedule(schedule);
  return [
    ...(reading?.kind === "faulty" ? [{ path: `${path}.schedule`, message: reading.fault }] : []),
    ...when(!isRegionalZone(zone), {
      path: `${path}.zone`,
      message: `\`${zone}\` is not a time zone; write one such as Europe/Berlin or UTC`,
    }),
  ];
}

/** Checks two settings of a section neither of which has an effect without the other. */
export function checkPair(
  settings: object,
  path: string,
  [first, second]: readonly [string, string],
): RuleFault[] {
  const has = (name: string) => Object.hasOwn(settings, name);
  if (has(first) === has(second)) return [];
  const [present, missing] = has(first) ? [first, second] : [second, first];
  const message = `has no effect without ${missing}; set that too, or remove it`;
  return [{ path: `${path}.${present}`, message }];
}

interface WebSettings {
  readonly url: string;
  readonly allowPlain: boolean;
  readonly user?: string;
  readonly bearerToken?: unknown;
}

/** Checks how a web service is reached and signed in to. */
export function checkWebServer(settings: WebSettings, path: string): RuleFault[] {
  const { url, allowPlain, user, bearerToken } = settings;
  const isParsed = URL.canParse(url);
  return [
    ...when(!isParsed, { path: `${path}.url`, message: "is not an address; correct it" }),
    ...when(isParsed && url.startsWith("http:") && !allowPlain, {
      path: `${path}.url`,
      message:
        "sends everything in plain text over the network; use https://, or set allowPlain on a network that you trust",
    }),
    ...checkPair(settings, path, ["user", "password"]),
    ...when(bearerToken !== undefined && user !== undefined, {
      path: `${path}.bearerToken`,
      message: "and user are two ways to sign in; remove bearerToken, or user and password",
    }),
  ];
}
