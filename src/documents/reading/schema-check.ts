/**
 * Checks a parsed stop document against the XSD and reports every fault, from the top of the document, up to 51: one more
 * than an answer carries, so that it can say that there are more.
 *
 * libxml2 stops checking the content of an element at the first child that does not belong there (unknown, doubled or
 * misplaced). So such children are taken out of the parsed document and it is checked again, until no more come up: once
 * for each level of nesting at most, because all such children of an element go at the same time. Faults of what stands
 * inside such a child are not told. What stands behind the 50th fault is taken out as well: telling a fault costs libxml2
 * a walk along the siblings, and 20,000 of them in every round would take too long.
 */
import {
  type ErrorDetail,
  type XmlDocument,
  XmlElement,
  type XmlTreeNode,
  XmlValidateError,
  type XsdValidator,
} from "libxml2-wasm";
import { type Fault, maxKeptFaults } from "../../lib/errors.ts";
import { type ContentModel, contentModelOf } from "../elements/content-model.ts";
import { indexedPath, placesOf } from "./element-places.ts";
import {
  faultOfSchemaError,
  faultOfUnexpectedChild,
  isStrayText,
  isUnexpectedChild,
  withoutConsequences,
} from "./xml-faults.ts";

/** Deeper than stop documents nest. */
const maxRounds = 8;
/** How many children are checked over all rounds, in each of the two ways. Faults after these are not reported. */
const maxVisitedChildren = 100_000;

/** A fault and the indexed path of its element; `detail` while the element is still in the parsed document. */
interface Finding {
  readonly path: string;
  readonly fault: () => Fault;
  readonly detail?: ErrorDetail;
}

function validate(validator: XsdValidator, document: XmlDocument): readonly ErrorDetail[] {
  try {
    validator.validate(document);
    return [];
  } catch (error) {
    if (error instanceof XmlValidateError) return withoutConsequences(error.details);
    throw error;
  }
}

function findingOf(detail: ErrorDetail): Finding {
  return { path: indexedPath(detail.xpath ?? "/*"), fault: () => faultOfSchemaError(detail), detail };
}

/** From the top of the document, each with the path that its element has in the text as it was sent. */
function inDocumentOrder(text: string, findings: readonly Finding[]): readonly Finding[] {
  const places = placesOf(
    text,
    findings.map((finding) => finding.path),
  );
  let last = 0;
  const ranked = findings.map((finding) => {
    const place = places.get(finding.path);
    last = place?.order ?? last;
    if (place === undefined) return { finding, order: last };
    const line = finding.detail !== undefined && isStrayText(finding.detail) ? place.textLine : undefined;
    const fault = () => ({
      line: place.line,
      ...finding.fault(),
      ...(line === undefined ? {} : { line }),
      path: place.path,
    });
    return { finding: { ...finding, fault }, order: last };
  });
  return ranked.sort((one, other) => one.order - other.order).map(({ finding }) => finding);
}

function shownName(element: XmlElement): string {
  return element.namespaceUri === "" ? element.name : `{${element.namespaceUri}}${element.name}`;
}

/** The name as libxml2 writes it into paths. */
function stepName(element: XmlElement): string {
  if (element.namespaceUri === "") return element.name;
  return element.prefix === "" ? "*" : `${element.prefix}:${element.name}`;
}

const requiredNames: ReadonlySet<string> = new Set(["Function", "StopNbr"]);

/** Takes elements out of one parsed document. */
class ContentCleaner {
  readonly #document: XmlDocument;
  #visited = 0;
  #cut = 0;

  constructor(document: XmlDocument) {
    this.#document = document;
  }

  /** It has checked as many children as it may. Indexes of the rest may be wrong then. */
  get isWornOut(): boolean {
    return this.#visited >= maxVisitedChildren;
  }

  /** Takes out what does not count of the stops that are to be deleted. */
  takeOutUncounted(isDeletion: (index: number) => boolean): void {
    const { root } = this.#document;
    if (root.name === "Stop") {
      if (isDeletion(0)) this.#keepNumberOnly(root);
      return;
    }
    let index = 0;
    for (let child = root.firstChild; child !== null && !this.isWornOut; child = child.next) {
      if (!(child instanceof XmlElement) || child.name !== "Stop") continue;
      if (isDeletion(index)) this.#keepNumberOnly(child);
      index += 1;
    }
  }

  #keepNumberOnly(stop: XmlElement): void {
    for (const attribute of stop.attrs) attribute.remove();
    let next: XmlTreeNode | null = stop.firstChild;
    for (; next !== null && !this.isWornOut; this.#visited++) {
      const child: XmlTreeNode = next;
      next = child.next;
      if (!(child instanceof XmlElement && requiredNames.has(child.name))) child.remove();
    }
  }

  /** Takes out the children that do not belong into the elements in which libxml2 has found one. */
  takeOutUnexpected(open: readonly Finding[]): Finding[] {
    const told = new Set(open.map((finding) => finding.path));
    const parents = new Set(open.map(({ path }) => path.slice(0, path.lastIndexOf("/"))));
    return [...parents].flatMap((path) => {
      const model = contentModelOf(path);
      const parent = model === undefined ? null : this.#document.get(path);
      return model !== undefined && parent instanceof XmlElement
        ? this.#takeOutOf(parent, path, { model, told })
        : [];
    });
  }

  #takeOutOf(
    parent: XmlElement,
    path: string,
    { model, told }: { readonly model: ContentModel; readonly told: ReadonlySet<string> },
  ): Finding[] {
    const counts = new Map<string, number>();
    const found: Finding[] = [];
    let next: XmlTreeNode | null = parent.firstChild;
    for (; next !== null && !this.isWornOut; this.#visited++) {
      const child: XmlTreeNode = next;
      next = child.next;
      if (!(child instanceof XmlElement)) continue;
      const name = stepName(child);
      const nth = (counts.get("*") ?? 0) + 1;
      const nthOfName = name === "*" ? nth : (counts.get(name) ?? 0) + 1;
      counts.set(name, nthOfName).set("*", nth);
      const childPath = `${path}/${name}[${nthOfName}]`;
      const isExpected = model.names.has(name) && (name === model.repeated || nthOfName === 1);
      if (isExpected && !told.has(childPath)) continue;
      const fault = faultOfUnexpectedChild(shownName(child), model);
      if (found.length < maxKeptFaults) found.push({ path: childPath, fault: () => fault });
      child.remove();
    }
    return found;
  }

  /** Takes out what comes behind an element, but for what a Stop must have. */
  cutBehind(path: string): void {
    // A name with a prefix cannot be looked up without its namespace; its parent can.
    const plainPath = /^(?:\/[^/:*]+)*(?=\/|$)/.exec(path)?.[0] ?? "";
    let node = plainPath === "" ? null : this.#document.get(plainPath);
    for (; node instanceof XmlElement; node = node.parent) {
      let next: XmlTreeNode | null = node.next;
      for (; next !== null && this.#cut < maxVisitedChildren; this.#cut++) {
        const behind: XmlTreeNode = next;
        next = behind.next;
        if (!(behind instanceof XmlElement && requiredNames.has(behind.name))) behind.remove();
      }
    }
  }
}

function isOpen({ detail }: Finding): boolean {
  return detail !== undefined && isUnexpectedChild(detail);
}

/**
 * The faults of a document that is well-formed; none when it obeys the XSD. Changes the parsed document.
 *
 * @param isDeletion whether the stop at this index has Function 02: only its Function and StopNbr count then
 */
export function schemaFaults(
  validator: XsdValidator,
  { document, text }: { readonly document: XmlDocument; readonly text: string },
  isDeletion: (index: number) => boolean,
): readonly Fault[] {
  const cleaner = new ContentCleaner(document);
  const takenOut: Finding[] = [];
  const faultsOf = (findings: readonly Finding[]) =>
    findings.slice(0, maxKeptFaults).map((finding) => finding.fault());
  if (validate(validator, document).length === 0) return [];
  cleaner.takeOutUncounted(isDeletion);
  for (let round = 1; ; round++) {
    const told = validate(validator, document).map(findingOf);
    if (told.length === 0 && takenOut.length === 0) return [];
    const ranked = inDocumentOrder(text, [...takenOut, ...told]);
    const open = ranked.slice(0, maxKeptFaults).filter(isOpen);
    if (open.length === 0 || round === maxRounds) return faultsOf(ranked);
    const last = ranked.slice(maxKeptFaults - 1).find(({ detail }) => detail !== undefined);
    if (last !== undefined) cleaner.cutBehind(last.path);
    const found = cleaner.takeOutUnexpected(open);
    if (found.length === 0) return faultsOf(ranked);
    takenOut.push(...found);
    if (cleaner.isWornOut) {
      const gone = new Set(found.map(({ path }) => path));
      const left = told.filter((finding) => !(isOpen(finding) && gone.has(finding.path)));
      return faultsOf(inDocumentOrder(text, [...takenOut, ...left]));
    }
  }
}
