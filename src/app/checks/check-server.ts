/** Whether a server of PostgreSQL is set so that commits are durable, times right, and all sessions served. */
import type { ServerFacts } from "../../store/database/postgres/server-facts.ts";
import { type CheckFinding, fine, problem, warning } from "../watch/check-finding.ts";

/** Beyond this, times of commits and leases are told wrongly to people. */
const mostAheadMs = 2_000;

function checkClock({ clockAheadMs }: ServerFacts): readonly CheckFinding[] {
  if (Math.abs(clockAheadMs) <= mostAheadMs) return [];
  const [seconds, side] = [Math.abs(clockAheadMs) / 1_000, clockAheadMs > 0 ? "ahead of" : "behind"];
  const what = `the clock of the server of PostgreSQL is ${seconds.toFixed(1)} s ${side} that of this machine`;
  return [warning(what, "synchronise both with the same servers of time (NTP)")];
}

function checkSessions({ freeSessions, neededSessions }: ServerFacts): CheckFinding {
  const what = `PostgreSQL leaves ${freeSessions} sessions to this user, and dropgate has up to ${neededSessions}`;
  if (freeSessions >= neededSessions) return fine(what);
  return problem(
    what,
    "raise max_connections, or the limit of the user or the database, or end other programs",
  );
}

function checkDurability({ fsync, synchronousCommit }: ServerFacts): readonly CheckFinding[] {
  const found: CheckFinding[] = [];
  if (fsync !== "on")
    found.push(
      problem(
        "fsync is off in PostgreSQL: a power failure may damage the database, and lose what was answered",
        "set fsync = on in postgresql.conf",
      ),
    );
  if (synchronousCommit === "local" || synchronousCommit === "remote_write")
    found.push(
      warning(
        `synchronous_commit is ${synchronousCommit}: a standby that takes over may lack what was answered`,
        "set it to on where a standby takes over",
      ),
    );
  return found;
}

function checkTls({ tls, isRemote }: ServerFacts): readonly CheckFinding[] {
  if (tls !== undefined) return [fine(`sessions with PostgreSQL use ${tls}`)];
  const what = "documents and accounts go between this machine and PostgreSQL without TLS";
  const remedy = "add sslmode=verify-full to the address (docs/postgresql.md, TLS)";
  return isRemote ? [warning(what, remedy)] : [];
}

/** How `check` tells of what a start waits for. Nothing can be compared meanwhile: for an upgrade it is a problem. */
export type ReportAway = typeof warning | typeof problem;

/** Findings besides that the database can be used. */
export function checkServer(facts: ServerFacts, reportAway: ReportAway = warning): readonly CheckFinding[] {
  const { fault } = facts;
  const first = fault === undefined ? [] : [problem(fault.what, fault.remedy)];
  const found = [
    ...first,
    ...checkDurability(facts),
    ...checkClock(facts),
    ...checkTls(facts),
    checkSessions(facts),
  ];
  if (facts.isStandby)
    found.push(
      reportAway(
        "the server of PostgreSQL is a standby, which does not write; a start waits until it does",
        "name the primary in `store`, or promote this one",
      ),
    );
  else if (!facts.mayCreate) {
    const what = "the user of `store` may not make tables in the database";
    found.push(problem(what, "make it the owner of the database, or grant create on its schema"));
  }
  if (!facts.isTimeoutSet) {
    const what = "PostgreSQL does not bound how long a session idles in a transaction, as dropgate has asked";
    found.push(problem(what, "connect to the server itself, not through a pooler that leaves settings out"));
  }
  return found;
}
