/** What stands for parts of a statement while the grammar is recorded, when nothing is read. */
import type { Expression } from "../../syntax/ast.ts";

/** Stands for the left side of an operator. */
export const RECORDED: Expression = { kind: "null", span: { line: 1, column: 1 } };
