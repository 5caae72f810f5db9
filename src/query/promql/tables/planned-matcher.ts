/** Matchers as conditions of a plan, for a table whose rows are elsewhere: `labelTest` says the same of a value. */
import { assert } from "../../../base/assert.ts";
import { BOOLEAN, STRING } from "../../../column/data-type.ts";
import { literal, type TypedExpression } from "../../expression/expression.ts";
import { anyFunctionNamed } from "../../function/registry.ts";
import { PlannedTest } from "../../operator/scan/scan.ts";
import type { LabelMatcher } from "../syntax/ast.ts";

/** Classes of SQL's expressions are of Unicode, those of PromQL of ASCII. */
const CLASSES = /\\[wds]/i;
/** Nothing in the conditions hangs on it. */
const ENVIRONMENT = { now: 0n, timeZone: "UTC", database: "" } as const;

/** The condition on a label that is not a list of values; undefined where it cannot be told so. */
export function plannedMatcher({ name, operator, value }: LabelMatcher): PlannedTest | undefined {
  const column: TypedExpression = { kind: "column", type: STRING, index: 0, name };
  const isAbsent: TypedExpression = { kind: "is", type: BOOLEAN, operand: column, test: "null", negated: false };
  const text: TypedExpression = {
    kind: "case",
    type: STRING,
    branches: [{ when: isAbsent, result: literal(STRING, "") }],
    otherwise: column,
  };
  if (operator === "!=") return planned({ kind: "compare", type: BOOLEAN, operator: "<>", left: text, right: literal(STRING, value) });
  if (operator === "=" || CLASSES.test(value)) return undefined;
  const matches = anyFunctionNamed("regexp_like");
  assert(matches !== undefined, "SQL has regexp_like");
  const call: TypedExpression = {
    kind: "call",
    type: BOOLEAN,
    function: matches,
    functionType: { args: [STRING, STRING, STRING], result: BOOLEAN },
    args: [text, literal(STRING, `^(?:${value})$`), literal(STRING, "s")],
  };
  return planned(operator === "=~" ? call : { kind: "not", type: BOOLEAN, operand: call });
}

function planned(condition: TypedExpression): PlannedTest {
  return new PlannedTest(condition, ENVIRONMENT);
}
