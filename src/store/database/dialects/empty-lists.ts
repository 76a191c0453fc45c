import { type BinaryOperationNode, OperatorNode, PrimitiveValueListNode, ValueListNode } from "kysely";

/**
 * What is (not) in an empty list, as SQL that is false (true): `in ()` is SQLite's alone. Undefined for any other comparison.
 * Kysely's plugin for it would copy every query.
 */
export function emptyListSql({ operator, rightOperand: list }: BinaryOperationNode): string | undefined {
  const isList = PrimitiveValueListNode.is(list) || ValueListNode.is(list);
  if (!isList || list.values.length > 0 || !OperatorNode.is(operator)) return undefined;
  return operator.operator === "in" ? "1 = 0" : "1 = 1";
}
