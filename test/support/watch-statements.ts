import type { StatementConnection } from "../../src/store/database/prepared-query.ts";

/** Calls `note` with the text of every statement that runs on the connection. The function that it gives ends that. */
export function watchStatements(connection: StatementConnection, note: (sql: string) => void): () => void {
  const { executeQuery, runPrepared, firstPrepared } = connection;
  const [execute, run] = [executeQuery.bind(connection), runPrepared.bind(connection)];
  const first = firstPrepared.bind(connection);
  connection.executeQuery = (query) => {
    note(query.sql);
    return execute(query);
  };
  connection.runPrepared = (statement, parameters) => {
    note(statement.source);
    return run(statement, parameters);
  };
  connection.firstPrepared = (statement, parameters, read) => {
    note(statement.source);
    return first(statement, parameters, read);
  };
  return () => Object.assign(connection, { executeQuery, runPrepared, firstPrepared });
}
