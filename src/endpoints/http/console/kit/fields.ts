/** Fields of forms, each with its label, and its hint and its fault where there are some. */
import { type Content, type Html, html } from "./html.ts";

interface FieldBase {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  /** Unique on the page; `field-<name>` unless given. Needed where two forms have a field of the same name. */
  readonly id?: string;
  /** What to put in. */
  readonly hint?: Content;
  /** What is wrong with what was put in. */
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
}

export interface TextField extends FieldBase {
  readonly type?: "text" | "search" | "date" | "password" | "number" | "email";
  /** As in HTML: `username`, `current-password`, `off`. */
  readonly autocomplete?: string;
}

export interface AreaField extends FieldBase {
  readonly rows?: number;
  /** The text is code: a fixed-width font, and nobody corrects its spelling. */
  readonly isCode?: boolean;
}

export interface SelectField extends FieldBase {
  /** Value and text of each, in their order. */
  readonly options: readonly (readonly [value: string, text: string])[];
}

function idOf({ id, name }: FieldBase): string {
  return id ?? `field-${name}`;
}

function attributes(field: FieldBase): Html {
  const id = idOf(field);
  const about = [
    ...(field.hint === undefined ? [] : [`${id}-hint`]),
    ...(field.error === undefined ? [] : [`${id}-error`]),
  ];
  return html`id="${id}" name="${field.name}"${field.isRequired === true ? html` required` : ""}${
    field.maxLength === undefined ? "" : html` maxlength="${field.maxLength}"`
  }${about.length === 0 ? "" : html` aria-describedby="${about.join(" ")}"`}${
    field.error === undefined ? "" : html` aria-invalid="true"`
  }`;
}

function framed(field: FieldBase, control: Html): Html {
  const id = idOf(field);
  return html`<div class="field"><label for="${id}">${field.label}</label>${
    field.hint === undefined ? "" : html`<span class="hint" id="${id}-hint">${field.hint}</span>`
  }${control}${
    field.error === undefined ? "" : html`<span class="fault" id="${id}-error">${field.error}</span>`
  }</div>`;
}

/** A field for a day shows days alone: browsers complain of anything else, and show nothing. */
function shownValue({ type, value = "" }: TextField): string {
  return type === "date" && !/^\d{4}-\d\d-\d\d$/.test(value) ? "" : value;
}

export function textField(field: TextField): Html {
  const { type = "text", autocomplete } = field;
  const value = shownValue(field);
  const completed = autocomplete === undefined ? "" : html` autocomplete="${autocomplete}"`;
  return framed(field, html`<input type="${type}" ${attributes(field)} value="${value}"${completed}>`);
}

export function areaField(field: AreaField): Html {
  const { rows = 3, value = "", isCode = false } = field;
  const plain = isCode ? html` class="code" spellcheck="false" autocomplete="off"` : "";
  // The first line break in a text area is no part of its text.
  return framed(
    field,
    html`<textarea ${attributes(field)} rows="${rows}"${plain}>
${value}</textarea>`,
  );
}

export function selectField(field: SelectField): Html {
  const options = field.options.map(
    ([value, text]) =>
      html`<option value="${value}"${value === (field.value ?? "") ? html` selected` : ""}>${text}</option>`,
  );
  return framed(field, html`<select ${attributes(field)}>${options}</select>`);
}

export interface CheckField {
  readonly name: string;
  readonly label: Content;
  readonly value?: string;
  readonly isChecked?: boolean;
}

export function checkField({ name, label, value = "yes", isChecked = false }: CheckField): Html {
  const checked = isChecked ? html` checked` : "";
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${checked}> <span>${label}</span></label>`;
}

export function hiddenField(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** The button that sends a form. */
export function submitButton(text: string): Html {
  return html`<button type="submit">${text}</button>`;
}
