/** Places in the order of arrival, as addresses have them, and how long is looked for what no index serves. */
import type { SealedNumbers } from "../../../lib/sealed-numbers.ts";
import type { ArrivalPlace } from "../../../store/ledger/arrival-place.ts";
import type { QueryContext } from "../query-context.ts";

/** A search goes on until so much of its two seconds is left: a page that says how far it has looked is better than none. */
const reserveMs = 1_900;
/** Somebody who has seen how far was looked, and asks for more, waits longer: the search comes ten times as far. */
const furtherReserveMs = 1_000;

/** `isFurther`: the search goes on from where one has ended for its time. */
export function hasTimeToSearch(
  { timeLeftMs }: Pick<QueryContext, "timeLeftMs">,
  { isFurther = false }: { readonly isFurther?: boolean | undefined } = {},
): () => boolean {
  return () => timeLeftMs() > (isFurther ? furtherReserveMs : reserveMs);
}

/** The time, and the reference of an entry. */
export function placeText(numbers: SealedNumbers, { receivedAt, id }: ArrivalPlace): string {
  return `${receivedAt}~${numbers.seal(id)}`;
}

/** Undefined for what this installation has not made: the list begins at its begin then. */
export function readPlace(numbers: SealedNumbers, text: string | undefined): ArrivalPlace | undefined {
  const [, time, reference] = /^(\d{1,15})~(.+)$/.exec(text ?? "") ?? [];
  const id = reference === undefined ? undefined : numbers.open(reference);
  return id === undefined ? undefined : { receivedAt: Number(time), id };
}
