import { lastingFault } from "./postgres-faults.ts";
import { PostgresSession } from "./postgres-session.ts";

/** Runs work in a session that waits for each answer, however long it takes. */
export async function onceInSession<T>(
  url: string,
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  const session = new PostgresSession({ url, isReader: false, isPatient: true });
  try {
    return await work(session);
  } catch (error) {
    throw lastingFault(error, "the address") ?? error;
  } finally {
    await session.close();
  }
}
