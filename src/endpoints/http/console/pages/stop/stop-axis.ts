/** Everything that is known of a stop on one axis. */
import { type Html, html } from "../../kit/html.ts";
import { nothing } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { type Lane, type LaneMark, lanesPicture } from "../../pictures/lanes-picture.ts";
import { knownZone } from "../../pictures/time-axis.ts";
import { words } from "../../words/words.ts";
import type { DeliveryLink } from "../file/file-view.ts";
import type { StopFileView, StopFound, VisitView } from "./stop-view.ts";

const said = words.stop;

function plannedMarks(visits: readonly VisitView[]): readonly LaneMark[] {
  return visits.flatMap(({ party, timeFrom, timeTo, expectedAt }): LaneMark[] => {
    const name = said.visits[party];
    const at = timeFrom ?? timeTo;
    return [
      ...(at === undefined
        ? []
        : [{ at, until: timeTo ?? at, label: `${name}: ${said.window}`, kind: "planned" as const }]),
      ...(expectedAt === undefined
        ? []
        : [{ at: expectedAt, label: `${name}: ${said.expected}`, kind: "open" as const }]),
    ];
  });
}

function actualMarks(visits: readonly VisitView[]): readonly LaneMark[] {
  return visits.flatMap(({ party, arrivedAt, departedAt }): LaneMark[] => {
    const label = said.visits[party];
    if (arrivedAt === undefined) return [];
    const mark = { at: arrivedAt, label, kind: "done" as const };
    return [departedAt === undefined ? mark : { ...mark, until: departedAt }];
  });
}

function fileMark({ receivedAt: at, name, state }: StopFileView): LaneMark {
  const kind = state === "refused" ? "bad" : state === "applied" ? "done" : "open";
  return { at, label: `${name}: ${words.files.states[state]}`, kind };
}

function deliveryMark({ createdAt, deliveredAt, name, target, state }: DeliveryLink): LaneMark {
  const kind = state === "dead" ? "bad" : state === "delivered" ? "done" : "open";
  const label = `${name}, ${target}: ${words.states.delivery[state]}`;
  const mark = { at: createdAt, label, kind } as const;
  return deliveredAt === null ? mark : { ...mark, until: deliveredAt };
}

function lanesOf({ visits, events, files, deliveries }: StopFound): readonly Lane[] {
  const { lanes } = said;
  const messages = deliveries.filter(({ kind }) => kind === "message");
  const completions = deliveries.filter(({ kind }) => kind !== "message");
  return [
    { name: lanes.planned, marks: plannedMarks(visits) },
    { name: lanes.actual, marks: actualMarks(visits) },
    {
      name: lanes.events,
      marks: events.map(({ happenedAt: at, name, code }) => ({ at, label: `${code} ${name}`, kind: "done" })),
    },
    { name: lanes.files, marks: files.map(fileMark).toReversed() },
    { name: lanes.deliveries, marks: completions.map(deliveryMark).toReversed() },
    { name: lanes.messages, marks: messages.map(deliveryMark).toReversed() },
  ];
}

export function axisSection(stop: StopFound): Html {
  const { visits, events, files, deliveries } = stop;
  const zone = knownZone(visits.at(-1)?.zone);
  const counts = { events: events.length, files: files.length, deliveries: deliveries.length };
  const frame = { id: "stop-axis", title: said.axis, description: said.axisDescription(counts) };
  const picture = lanesPicture(frame, lanesOf(stop), { zone });
  if (picture === undefined) return section(said.axis, nothing(said.noTimes), { id: "axis" });
  return section(said.axis, html`${picture}<p class="nothing">${said.axisZone(zone)}</p>`, { id: "axis" });
}
