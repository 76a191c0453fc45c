/** Something wrong, or doubtful, in the configuration. Line and column count from 1; a fault of the whole file has none. */
export interface ConfigFault {
  readonly line?: number;
  readonly column?: number;
  /** Dotted path of the setting (`http.tls.certFile`, `companies.ACME.folders[0].path`); empty for the file itself. */
  readonly path: string;
  /** Names the fault and the remedy. */
  readonly message: string;
}

function formatConfigFault(fault: ConfigFault, file: string): string {
  const place = fault.line === undefined ? file : `${file}:${fault.line}:${fault.column ?? 1}`;
  return [place, fault.path, fault.message].filter((part) => part !== "").join(": ");
}

/** One line a fault, `file:line:column: path: message`, in the order of the file; a form that editors can jump to. */
export function formatConfigFaults(faults: readonly ConfigFault[], file = ""): string {
  return inFileOrder(faults)
    .map((fault) => formatConfigFault(fault, file))
    .join("\n");
}

export function inFileOrder(faults: readonly ConfigFault[]): ConfigFault[] {
  return faults.toSorted(
    (left, right) => (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0),
  );
}
