/** How many sessions with PostgreSQL a daemon has. */
export const storeReaders = 4;
/** As many as the console has queries in hand. */
export const consoleReaders = 4;
/** What is counted as of one moment. */
const snapshotReaders = 1;
/** That of the leases. */
const leasingSessions = 1;
/** That in which files of other nodes are entered. */
const arrivalSessions = 1;
/** Of a command beside the daemon. */
const sessionsOfCommand = 1 + storeReaders;
/** With the one that writes. */
export const sessionsOfNode =
  1 + leasingSessions + arrivalSessions + storeReaders + snapshotReaders + consoleReaders + sessionsOfCommand;
