/** The process that tries a lock which another one has (check-tree.ts): its path as argument, `taken` or `refused` on its output. */
import { OperatorError } from "../../lib/operator-error.ts";
import { lockOrRefuse } from "../../store/database/process-lock.ts";

function outcomeOf(path: string): "taken" | "refused" {
  try {
    lockOrRefuse(path, () => "another process has it").release();
    return "taken";
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return "refused";
  }
}

process.stdout.write(outcomeOf(process.argv[2] ?? ""));
