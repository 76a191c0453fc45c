/** The clock of the server, by which nodes count: milliseconds UTC, now and not at the begin of the transaction. */
export const serverNow = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
