import type { StatementConnection } from "../../src/store/prepared-query.ts";

/** Calls `note` with the text of every statement that runs on the connection. The function that it gives ends that. */
export function watchStatements(connection: StatementConnection, note: (sql: string) => void): () => void {
  const { executeQuery, runPrepared } = connection;
  const [execute, run] = [executeQuery.bind(connection), runPrepared.bind(connection)];
  connection.executeQuery = (query) => {
    note(query.sql);
    return execute(query);
  };
  connection.runPrepared = (statement, parameters) => {
    note(statement.source);
    return run(statement, parameters);
  };
  return () => Object.assign(connection, { executeQuery, runPrepared });
}
