/** What a trial of a document has come to. */
import { type Fault, reasonCodeOf } from "../../../../../lib/errors.ts";
import { remedyOf } from "../../../../../inbound/explain/file-words.ts";
import type { ShownChange, ShownDifference, ShownEntityChange, TrialDone } from "../../console-acts.ts";
import type { BadgeKind } from "../../kit/badge.ts";
import { type Html, html } from "../../kit/html.ts";
import { nothing, notice, remedy } from "../../kit/notice.ts";
import { details, section } from "../../kit/section.ts";
import { listing, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";

const text = words.hosts;

const kinds: Readonly<Record<TrialDone["state"], BadgeKind>> = {
  ...{ applied: "ok", accepted: "ok", refused: "bad", duplicate: "off", superseded: "wait" },
};

function placeOf({ path, line, stopNbr }: Fault): Html {
  const places = [
    line === undefined ? undefined : text.line(line),
    path === undefined ? undefined : shortened(path),
    stopNbr === undefined ? undefined : shortened(stopNbr),
  ].filter((place) => place !== undefined);
  return html`${places.map((place, index) => html`${index === 0 ? "" : ", "}${place}`)}`;
}

/** What is wrong, and once for each reason what to do about it, where the message does not say it. */
function faultsTable(faults: readonly Fault[]): Html {
  const rows = faults.map((fault) => [reasonCodeOf(fault.code), placeOf(fault), shown(fault.message)]);
  const codes = [...new Set(faults.map(({ code }) => code))];
  const remedies = new Set(codes.map(remedyOf).filter((told) => told !== undefined));
  return html`${table([text.reason, text.place, text.message], rows, {
    ...{ caption: text.faults, empty: text.noFaults },
  })}${[...remedies].map((told) => remedy(told))}`;
}

/** A value of JSON in a line. */
function valueText(value: unknown): Html {
  if (value === undefined) return html`<span class="none">${words.kit.none}</span>`;
  return shortened(typeof value === "string" ? value : JSON.stringify(value));
}

function fieldsTable(fields: readonly ShownDifference[], caption: string): Html {
  const rows = fields.map(({ path, before, after }) => [
    shortened(path),
    valueText(before),
    valueText(after),
  ]);
  return table([text.field, text.before, text.after], rows, {
    caption,
    empty: text.sameFields,
    isCaptionHidden: true,
  });
}

/** Further stops with changed fields than these are opened by hand. */
const openStops = 3;

function changesOf(changes: readonly ShownChange[]): Html {
  const rows = changes.map(({ stopNbr, effect, statusBefore, statusAfter }) => [
    shortened(stopNbr),
    text.effects[effect],
    statusBefore ?? words.kit.none,
    statusAfter ?? words.kit.none,
  ]);
  const updated = changes.filter(({ effect, fields }) => effect === "updated" && fields.length > 0);
  return html`${table([text.stop, text.effect, text.stateBefore, text.stateAfter], rows, {
    ...{ caption: text.changes, empty: text.noChanges },
  })}${updated.map((change, index) =>
    details(
      text.fieldsOf(change.stopNbr),
      fieldsTable(change.fields, text.fieldsOf(change.stopNbr)),
      index < openStops,
    ),
  )}`;
}

/** What would come of each load or order. */
function entitiesOf(entities: readonly ShownEntityChange[], untried: number): Html {
  const rows = entities.map(({ kind, number, effect, faults }) => [
    html`${text.entity[kind]} ${shortened(number)}`,
    text.effects[effect],
    faults.map(
      (fault) => html`<p>${reasonCodeOf(fault.code)} ${placeOf(fault)}: ${shown(fault.message)}</p>`,
    ),
  ]);
  const updated = entities.filter(({ fields }) => fields.length > 0);
  const rest = untried === 0 ? "" : html`<p>${text.untried(untried)}</p>`;
  const options = { caption: text.entities, empty: text.noEntities };
  return html`${table([text.entityHead, text.effect, text.why], rows, options)}${rest}${updated.map(
    ({ kind, number, fields }, index) => {
      const caption = text.fieldsOfEntity(text.entity[kind], number);
      return details(caption, fieldsTable(fields, caption), index < openStops);
    },
  )}`;
}

function verdict({ state, importKind, first, underNewTime }: TrialDone): Html {
  return notice(
    kinds[state],
    html`<p><strong>${text.states[state]}</strong> ${importKind === undefined ? "" : text.kinds[importKind]} ${text.nothingStored}</p>${
      importKind === "loads" && state === "accepted" ? html`<p>${text.inBackground}</p>` : ""
    }${first === undefined ? "" : html`<p>${text.firstOf(first.state)} ${timeText(first.decidedAt)}</p>`}${
      underNewTime === undefined ? "" : html`<p>${text.underNewTime[underNewTime]}</p>`
    }`,
  );
}

/** The result, in a part of its own above the form. */
export function trialResult(done: TrialDone): Html {
  const { faults, changes, importKind, entities, untried, mapped } = done;
  const isOfEntities = importKind === "loads" || importKind === "orders";
  const hasChanges = faults.length === 0 || changes.length > 0;
  const wrong = faults.length === 0 ? nothing(text.noFaults) : faultsTable(faults);
  return section(
    text.result,
    html`${verdict(done)}${wrong}${isOfEntities && faults.length === 0 ? entitiesOf(entities, untried) : ""}${
      hasChanges ? changesOf(changes) : ""
    }${mapped === undefined ? "" : details(text.mapped, listing(mapped, text.mapped))}`,
    { id: "result" },
  );
}
