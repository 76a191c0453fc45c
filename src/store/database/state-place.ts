/** Where a state is: its directory, and its database when that is on a server. */
export interface StatePlace {
  readonly stateDir: string;
  /** `postgres://user:password@host:port/database`; without it the database is the SQLite file of the directory. */
  readonly url?: string | undefined;
}
