/**
 * What an entry of the audit is about, as one text that people can read and the console can link: the kind of thing, its
 * name, and what names it in an address. Names have no line breaks, and the last word is the reference.
 */

export type AuditSubject =
  | { readonly kind: "file"; readonly name: string; readonly reference: string }
  | { readonly kind: "delivery"; readonly name: string; readonly guid: string }
  | { readonly kind: "export"; readonly name: string; readonly sequenceNbr: number }
  | { readonly kind: "target" | "remote" | "address" | "user" | "company"; readonly name: string }
  | { readonly kind: "heldDeliveries" };

const heldDeliveries = "held deliveries";

export function auditSubjectText(subject: AuditSubject): string {
  switch (subject.kind) {
    case "file":
      return `file ${subject.name} ${subject.reference}`;
    case "delivery":
      return `delivery ${subject.name} ${subject.guid}`;
    case "export":
      return `export ${subject.name} ${subject.sequenceNbr}`;
    case "target":
    case "remote":
    case "address":
    case "user":
    case "company":
      return `${subject.kind} ${subject.name}`;
    case "heldDeliveries":
      return heldDeliveries;
  }
}

/** The subject of such a text; undefined when it is about something else. */
export function readAuditSubject(text: string): AuditSubject | undefined {
  if (text === heldDeliveries) return { kind: "heldDeliveries" };
  const [, kind, rest = ""] =
    /^(file|delivery|export|target|remote|address|user|company) (.+)$/s.exec(text) ?? [];
  if (kind === "target" || kind === "remote" || kind === "address" || kind === "user" || kind === "company")
    return { kind, name: rest };
  const [, name, last] = /^(.+) (\S+)$/s.exec(rest) ?? [];
  if (name === undefined || last === undefined) return undefined;
  if (kind === "file") return { kind, name, reference: last };
  if (kind === "delivery") return { kind, name, guid: last };
  return kind === "export" && /^\d+$/.test(last) ? { kind, name, sequenceNbr: Number(last) } : undefined;
}
