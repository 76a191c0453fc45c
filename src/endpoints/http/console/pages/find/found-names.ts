/** What was found by a name that people have given: users, companies, remotes and targets, and where each leads. */
import { badge } from "../../kit/badge.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { shortened } from "../../kit/shown-text.ts";
import type { Column, Row } from "../../kit/table.ts";
import { words } from "../../words/words.ts";
import { remoteId } from "../remotes/remotes-page.ts";
import type { FindFound, FoundPlace } from "./find-view.ts";

/** Things of one kind. */
export interface Group {
  readonly title: string;
  readonly head: readonly Column[];
  readonly rows: readonly Row[];
}

export function userAddress(to: Addresses, userId: number): string {
  return to.at(`/users/${userId}`);
}

/** A company has its files, a target its deliveries, a remote its part of their page. */
export function placeAddress(to: Addresses, { kind, company, name }: FoundPlace): string {
  if (kind === "remote") return `${to.at("/remotes")}#${remoteId(company, name)}`;
  return kind === "company" ? to.at("/files", { company }) : to.at("/deliveries", { company, target: name });
}

/** Groups of the page that finds; empty ones too. */
export function nameGroups({ users, places }: FindFound, to: Addresses): readonly Group[] {
  const { columns, named } = words.find;
  const { disabled, enabled } = words.users;
  const { state } = words.users.head;
  return [
    {
      title: named.users,
      head: [columns.name, columns.company, state],
      rows: users.map(({ userId, userName, companies, isEnabled }) => [
        link(userAddress(to, userId), shortened(userName, 80)),
        shortened(companies.join(", "), 100),
        isEnabled ? badge("ok", enabled) : badge("off", disabled),
      ]),
    },
    {
      title: named.places,
      head: [columns.name, columns.company, columns.meaning],
      rows: places.map((place) => [
        link(placeAddress(to, place), shortened(place.name, 80)),
        shortened(place.company, 40),
        place.title === null ? named.kinds[place.kind] : shortened(place.title, 100),
      ]),
    },
  ];
}
