/** What is known of a file when it is entered in the ledger; times are milliseconds UTC. */
export interface NewFile {
  readonly companyId: number;
  readonly name: string;
  /** What its name says of when it was made; null when it says nothing. */
  readonly nameTime: number | null;
  readonly size: number;
  readonly channel: string;
  readonly userName: string | null;
  readonly receivedAt: number;
  /** Where it lies, as the ledger says it. */
  readonly location: string;
  readonly beganAt?: number | undefined;
  readonly enteredAt?: number | undefined;
}
