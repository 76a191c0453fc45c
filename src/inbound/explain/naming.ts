/** How words name entries of the ledger and places of files, by who reads them. */
export interface Naming {
  /** An entry, by its number in the ledger, such as `entry 12`. */
  entry(id: number): string;
  /** A file, by its absolute path. */
  path(path: string): string;
  /** A message of the system, which may name places. */
  message(text: string): string;
}

/** For operators: numbers for commands, and places of this machine. */
export const operatorNaming: Naming = {
  entry: (id) => `entry ${id}`,
  path: (path) => path,
  message: (text) => text,
};
