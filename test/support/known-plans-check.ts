/** Insists that plans which are known are the plans that would be made, for a text and for others of its shape. */
import { DbError } from "../../src/base/error.ts";
import { KnownPlans } from "../../src/query/known-plans/known-plans.ts";
import { shapeOf, type TextConstant } from "../../src/query/known-plans/text-shape.ts";
import type { PlanNode } from "../../src/query/operator/contract/node.ts";
import type { QueryContext } from "../../src/query/query-context.ts";
import { parseSql } from "../../src/query/sql/parse.ts";
import type { Statement } from "../../src/query/sql/syntax/statement-ast.ts";
import { type PlannedBefore, prepareSelect } from "../../src/query/statement/shared/select.ts";

/** How many plans of a check were known, and how many were not. */
export interface KnownPlansReport {
  readonly known: number;
  readonly planned: number;
}

/**
 * Plans a text, keeps the plan, and asks for those of the text and of others with constants that `change` gives. Texts that are no single
 * SELECT, or fail, are passed over.
 *
 * @param change another constant in the place of one; asked for each constant of each of `rounds` texts
 * @throws Error for a known plan that is another one than would be made, or that would be refused
 */
export async function checkKnownPlans(
  text: string,
  context: QueryContext,
  change: (constant: TextConstant) => string,
  rounds: number,
): Promise<KnownPlansReport> {
  const plans = new KnownPlans(Number.POSITIVE_INFINITY);
  let [known, planned] = [0, 0];
  const shaped = shapeOf(text);
  if (shaped === undefined) return { known, planned };
  for (let round = 0; round <= rounds + 1; round++) {
    const asked = round < 2 ? text : changed(text, shaped.constants, change);
    const found = plans.ofText(asked, context);
    const made = await plannedNow(asked, context);
    if (context.signal.aborted) return { known, planned }; // What is planned now is refused, whatever it is.
    if (found?.kind === "known") {
      known++;
      if (made === undefined) throw new Error(`a plan was known of a text that is refused: ${asked}`);
      if (!Bun.deepEquals(found.plan, made.plan, true)) throw new Error(`the known plan of a text is not its plan: ${asked}`);
    } else {
      planned++;
      if (made !== undefined) found?.keep(made.statement, made);
    }
  }
  return { known, planned };
}

async function plannedNow(text: string, context: QueryContext): Promise<(PlannedBefore & { readonly statement: Statement }) | undefined> {
  let made: PlannedBefore | undefined;
  try {
    const [statement, ...others] = parseSql(text);
    if (statement?.kind !== "select" || others.length > 0) return undefined;
    await prepareSelect(statement, context, {
      onPlanned: (each) => {
        made = each;
      },
    });
    const plan: PlanNode | undefined = made?.plan;
    return made === undefined || plan === undefined ? undefined : { ...made, statement };
  } catch (thrown) {
    if (thrown instanceof DbError) return undefined;
    throw thrown;
  }
}

function changed(text: string, constants: readonly TextConstant[], change: (constant: TextConstant) => string): string {
  let made = "";
  let at = 0;
  for (const constant of constants) {
    const { offset, kind } = constant;
    const other = change(constant);
    made += text.slice(at, offset) + (kind === "string" ? `'${other.replaceAll("'", "''")}'` : other);
    at = offset + lengthOf(constant);
  }
  return made + text.slice(at);
}

/** Characters of a constant as it is written. */
function lengthOf({ kind, text }: TextConstant): number {
  return kind === "string" ? text.replaceAll("'", "''").length + 2 : text.length;
}

/** Constants of all kinds, those that come to another kind of condition among them. */
const STRINGS = [
  "",
  "h1",
  "h2",
  "it's",
  "1970-01-01 00:00:02",
  "2024-01-01T00:00:00Z",
  "1 hour",
  "5",
  "x".repeat(100),
  "é",
  "%",
  "minute",
  "tomorrow",
];
const NUMBERS = [
  "0",
  "1",
  "2",
  "3",
  "1000",
  "1500.5",
  "99999999999",
  "9223372036854775807",
  "9223372036854775808",
  "123456789012345678901234567890",
  "0.1",
];

/** Other constants in the place of one in four, the same for a seed. */
export function otherConstants(seed: number): (constant: TextConstant) => string {
  let state = seed + 1;
  const below = (count: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  return ({ kind, text }) => {
    const others = kind === "string" ? STRINGS : NUMBERS;
    return below(4) > 0 ? text : (others[below(others.length)] ?? text);
  };
}
