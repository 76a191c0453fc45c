export interface RuleFault {
  readonly path: string;
  readonly message: string;
  /** The other setting, to be shown when the first does not stand in the file. */
  readonly otherPath?: string;
}

/** The fault, if it is one. */
export function when(isBroken: boolean, fault: RuleFault): RuleFault[] {
  return isBroken ? [fault] : [];
}
