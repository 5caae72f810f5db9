/**
 * Binding: the syntax tree of an expression becomes a typed one. Names are resolved, operand types meet, constants fold.
 */
import { unreachable } from "../../../base/assert.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  FLOAT64,
  INT64,
  INTERVAL,
  NULL,
  STRING,
  TIMESTAMP_NANOSECOND,
  UINT64,
} from "../../../column/data-type.ts";
import { fitsInt64 } from "../../../value/integer-range.ts";
import { integerOfText } from "../../../value/number-text.ts";
import { chosenType } from "../../function/signature/common-type.ts";
import { aggregateNamed, aggregateNames } from "../../function/aggregate/registry.ts";
import { arrowTypeNamed } from "../../function/value/arrow-type.ts";
import { executionError } from "../../function/value/execution-error.ts";
import { isUnitWord, UNIT_FIRST } from "../../function/family/date-difference-functions.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { type Present, valueKey } from "../../function/value/value.ts";
import { nearestName } from "../../../base/text/nearest.ts";
import { functionNamed, functionNames, operatorFunction } from "../../function/registry.ts";
import type { ScalarFunction } from "../../function/signature/scalar-function.ts";
import { WINDOW_FUNCTION_NAMES, windowFunctionNamed } from "../../function/family/window-functions.ts";
import type { BinaryOperator, ComparisonOperator, Expression, ObjectName } from "../../sql/syntax/ast.ts";
import type { SubQueryExpression } from "./ast-walk.ts";
import {
  asWrittenDecimal,
  besideUnsigned,
  castTo,
  compare,
  concatenation,
  condition,
  arithmeticOf,
  distinctFrom,
  isFreeText,
  isUntypedMember,
  unify,
} from "./coerce.ts";
import { constantCall } from "./bind-constants.ts";
import { type BindCall, fieldOf, listConcatenation, nestedCall, SLICE, SUBSCRIPT } from "./bind-nested.ts";
import { rowComparison, rowsInList } from "./bind-rows.ts";
import { columnsOf, hasParameter, isVolatile, literal, type TypedExpression } from "../../expression/expression.ts";
import { fold } from "../../expression/fold.ts";
import { noMatch } from "./no-match.ts";
import { notSupported, planError } from "./plan-error.ts";
import { rangeError } from "./range-error.ts";
import { logicOf } from "./row-sets.ts";
import { findColumn, type Scope, unknownColumn } from "./scope.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";
import type { Steps } from "./steps.ts";
import { systemVariable } from "./system-variables.ts";

/** What binding reads. `intercept` sees every node first: it resolves aliases, group keys and aggregates. */
export interface Binder {
  readonly scope: Scope;
  readonly environment: Environment;
  readonly intercept?: ((expression: Expression) => TypedExpression | undefined) | undefined;
  /** Whether an expression holds an `unnest` that is no column yet: binding it here would make rows. */
  readonly hasNewUnnest?: ((expression: Expression) => boolean) | undefined;
  /** Columns of the queries around. */
  readonly outer?: { readonly resolve: (name: ObjectName) => TypedExpression | undefined } | undefined;
  /** Takes sub-queries; without it there may be none. */
  readonly subQueries?: SubQueryBinder | undefined;
}

/** Makes columns of sub-queries (`sub-queries.ts`). */
interface SubQueryBinder {
  readonly bind: (expression: SubQueryExpression, binder: Binder) => TypedExpression;
  /** Plans one beforehand, in steps. */
  readonly planFirst: (expression: SubQueryExpression, binder: Binder) => Steps<void>;
}

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

/** The typed form of an expression. @throws DbError PlanQuery for unknown names and types that do not meet */
export function bind(expression: Expression, binder: Binder): TypedExpression {
  const { environment } = binder;
  environment.planSize?.add(1);
  const intercepted = binder.intercept?.(expression);
  if (intercepted !== undefined) return intercepted;
  switch (expression.kind) {
    case "number":
      return numberLiteral(expression.text);
    case "string":
      return literal(STRING, expression.value);
    case "binary-literal":
      return literal(BINARY, expression.value);
    case "boolean":
      return literal(BOOLEAN, expression.value);
    case "null":
      return literal(NULL, undefined);
    case "interval":
      return literal(INTERVAL, expression.value);
    case "placeholder":
      return placeholder(expression.index, environment);
    case "default":
      throw planError("DEFAULT is allowed as a whole value of INSERT only");
    case "column":
      return column(expression, binder);
    case "unary":
      return unary(expression, binder);
    case "binary":
      return binary(expression, binder);
    case "is":
      return isTest(expression, binder);
    case "between":
      return between(expression, binder);
    case "in-list":
      return atOnce(inListInSteps(expression, binder));
    case "like":
      return like(expression, binder);
    case "cast":
      return explicitCast(bind(expression.operand, binder), expression.type, environment, expression.safe);
    case "case":
      return caseOf(expression, binder);
    case "call":
      return call(expression, binder);
    case "range":
      throw rangeError("ALIGN argument cannot be omitted in the range select query");
    case "sub-query":
    case "exists":
    case "in-query":
    case "quantified":
      if (binder.subQueries === undefined) throw notSupported("a sub-query in this place");
      return binder.subQueries.bind(expression, binder);
    default:
      return unreachable(expression);
  }
}

/** A cast that was asked for. Unlike a text that is compared with a time, it does not hang on the session: text is in UTC. */
function explicitCast(operand: TypedExpression, type: DataType, environment: Environment, safe: boolean): TypedExpression {
  return castTo(operand, type, operand.type.kind === "string" ? { ...environment, timeZone: "UTC" } : environment, safe);
}

/** What a placeholder stands for; a parameter while the statement is only described. @throws DbError EngineExecuteQuery without a value */
function placeholder(index: number, environment: Environment): TypedExpression {
  const given = environment.placeholders?.valueOf(index);
  if (given === "open") return { kind: "parameter", type: NULL, id: -1 - index, name: `$${index + 1}` };
  if (given !== undefined) return literal(given.type, given.value);
  const why = `Placeholder '$${index + 1}' was not provided a value for execution.`;
  throw executionError(why);
}

/** `time AT TIME ZONE zone`: every second one of a chain goes the other way, from a moment to a clock. */
function atTimeZone({ left, right }: Of<"binary">, binder: Binder): TypedExpression {
  let depth = 0;
  for (let inner = left; inner.kind === "binary" && inner.operator === "at time zone"; inner = inner.left) depth++;
  const bound = bind(left, binder);
  const time = bound.type.kind === "string" ? explicitCast(bound, TIMESTAMP_NANOSECOND, binder.environment, false) : bound;
  const name = depth % 2 === 0 ? "at_time_zone_op" : "in_time_zone_op";
  return required(operatorFunction(name), "AT TIME ZONE", [time, bind(right, binder)], binder);
}

/** A condition of WHERE, HAVING or FILTER. */
export function bindCondition(expression: Expression, clause: string, binder: Binder): TypedExpression {
  return condition(bind(expression, binder), clause, binder.environment);
}

/** The literal of a number as written: Int64, UInt64 when too large for that, else Float64, which remembers what was written. */
function numberLiteral(text: string): TypedExpression {
  const whole = integerOfText(text);
  if (whole !== undefined && fitsInt64(whole)) return literal(INT64, whole);
  if (whole !== undefined && whole > 0 && whole < 2n ** 64n) return literal(UINT64, whole);
  return { kind: "literal", type: FLOAT64, value: Number(text), text };
}

/** Names that are calls of functions where no column is called so. */
const BARE_NAMES: ReadonlyMap<string, string> = new Map([
  ...["current_timestamp", "current_date", "current_schema", "current_user", "session_user"].map((name) => [name, name] as const),
  ["user", "current_user"] as const,
  ["current_role", "current_user"] as const,
  ["current_catalog", "current_database"] as const,
]);

function column(expression: Of<"column">, binder: Binder): TypedExpression {
  const found = findColumn(binder.scope, expression.name) ?? foldedColumn(expression, binder);
  if (found !== undefined) return found.expression;
  const [name = ""] = expression.name;
  // Some functions of the standard are called without parentheses.
  const bare = expression.name.length === 1 && !expression.quoted ? BARE_NAMES.get(name) : undefined;
  if (bare !== undefined) {
    const bound = callOf(functionNamed(bare), [], binder);
    if (bound !== undefined) return bound;
  }
  const outside = binder.outer?.resolve(expression.name) ?? memberOf(expression.name, binder);
  if (outside !== undefined) return outside;
  const only = onlyColumnOf(expression.name, binder.scope);
  if (only !== undefined) return only;
  throw unknownColumn(binder.scope, expression.name);
}

/** MySQL's names of columns are the same in any case, within quotes too: tools ask `information_schema` for `TABLE_NAME`. */
function foldedColumn({ name, quoted }: Of<"column">, { scope, environment }: Binder): ReturnType<typeof findColumn> {
  if (environment.isMysql !== true || !quoted) return undefined;
  const folded = [...name.slice(0, -1), name.at(-1)?.toLowerCase() ?? ""];
  return findColumn(scope, folded) ?? findColumn(scope, [...name.slice(0, -1).map((part) => part.toLowerCase()), folded.at(-1) ?? ""]);
}

/** What the name of a relation of one column stands for, as in `FROM generate_series(1, 3) AS i`. */
function onlyColumnOf([name, ...rest]: ObjectName, scope: Scope): TypedExpression | undefined {
  const columns = rest.length > 0 ? [] : scope.filter(({ qualifier }) => qualifier === name);
  return columns.length === 1 ? columns[0]?.expression : undefined;
}

/** `column.a.b` where the column is JSON2: what `json_get(column, 'a.b')` gives; where it is a struct, its field. */
function memberOf(name: ObjectName, binder: Binder): TypedExpression | undefined {
  for (let length = name.length - 1; length > 0; length--) {
    const found = findColumn(binder.scope, name.slice(0, length));
    const document = found?.expression;
    if (document?.type.kind === "struct")
      return name.slice(length).reduce((value: TypedExpression, part) => fieldOf(value, part, binder.environment), document);
    if (document?.type.kind !== "json" || document.type.structured !== true) continue;
    const path = name.slice(length).map((part) => (/^\w+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`));
    const hint = found?.hints?.find((each) => sameNames(each.path, name.slice(length)));
    const type = hint === undefined ? [] : [literal(hint.type, undefined)];
    return callOf(functionNamed("json_get"), [document, literal(STRING, `$${path.join("")}`), ...type], binder);
  }
  return undefined;
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((name, i) => name === b[i]);

function unary(expression: Of<"unary">, binder: Binder): TypedExpression {
  const { operator, operand } = expression;
  if (operator === "-" && operand.kind === "number") return numberLiteral(`-${operand.text}`);
  const bound = bind(operand, binder);
  switch (operator) {
    case "+":
      return bound;
    case "-":
      return required(operatorFunction("negate"), "-", [bound], binder);
    case "~":
      return required(operatorFunction("bit_not_op"), "~", [bound], binder);
    case "not":
      return fold({ kind: "not", type: BOOLEAN, operand: condition(bound, "NOT", binder.environment) }, binder.environment);
  }
}

const OPERATOR_FUNCTIONS: Readonly<Record<string, string>> = {
  "&": "bit_and_op",
  "|": "bit_or_op",
  "^": "bit_xor_op",
  "<<": "shift_left_op",
  ">>": "shift_right_op",
  "~": "regex_match_op",
  "~*": "regex_imatch_op",
  "!~": "regex_not_match_op",
  "!~*": "regex_not_imatch_op",
  "@@": "matches_term",
  "similar to": "similar_op",
  "not similar to": "not_similar_op",
};

function binary(expression: Of<"binary">, binder: Binder): TypedExpression {
  const { operator } = expression;
  const { environment } = binder;
  if (operator === "and" || operator === "or") return atOnce(chainInSteps(expression, operator, binder));
  if (operator === "at time zone") return atTimeZone(expression, binder);
  const ofRows = isComparison(operator) ? rowComparison(operator, expression.left, expression.right) : undefined;
  if (ofRows !== undefined) return bind(ofRows, binder);
  const left = bind(expression.left, binder);
  const right = bind(expression.right, binder);
  switch (operator) {
    case "=":
    case "<>":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return compare(operator, left, right, environment);
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return arithmeticOf(operator, left, right, environment);
    case "div":
      return wholeQuotient(left, right, binder);
    case "||": {
      const lists = listConcatenation(left, right, (found, name, args) => required(found, name, args, binder));
      return lists ?? concatenation(left, right, environment);
    }
    case "@>":
      return required(operatorFunction("array_has_all"), operator, [left, right], binder);
    case "<@":
      return required(operatorFunction("array_has_all"), operator, [right, left], binder);
    case "is distinct from":
    case "is not distinct from":
      return distinctFrom(operator === "is not distinct from", left, right, environment);
    default:
      return required(operatorFunction(OPERATOR_FUNCTIONS[operator] ?? operator), operator, [left, right], binder);
  }
}

/** `a DIV b`: the quotient without its fraction, a whole number. */
function wholeQuotient(left: TypedExpression, right: TypedExpression, binder: Binder): TypedExpression {
  const quotient = arithmeticOf("/", left, right, binder.environment);
  const truncate = functionNamed("trunc");
  if (quotient.type.kind === "int" || quotient.type.kind === "null" || truncate === undefined) return quotient;
  return castTo(required(truncate, "DIV", [quotient], binder), INT64, binder.environment);
}

function isComparison(operator: BinaryOperator): operator is ComparisonOperator {
  return ["=", "<>", "<", "<=", ">", ">="].includes(operator);
}

/** All operands of a chain of AND or OR, together. @throws DbError PlanQuery */
export function* chainInSteps(expression: Of<"binary">, operator: "and" | "or", binder: Binder): Steps<TypedExpression> {
  const { environment } = binder;
  const operands: TypedExpression[] = [];
  for (const operand of chainOf(expression, operator)) {
    const bound = condition(bind(operand, binder), operator.toUpperCase(), environment);
    const isSame = bound.kind === "logic" && bound.operator === operator;
    for (const part of isSame ? bound.operands : [bound]) operands.push(part);
    if (operands.length % ITEMS_AT_ONCE === 0) yield;
  }
  return yield* logicOf(operator, operands, environment);
}

/** Operands of a chain such as `a OR b OR c`, in order, however the tree leans; without recursion. */
export function chainOf(expression: Of<"binary">, operator: "and" | "or"): Expression[] {
  const operands: Expression[] = [];
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "binary" && node.operator === operator) open.push(node.right, node.left);
    else operands.push(node);
  }
  return operands;
}

function isTest(expression: Of<"is">, binder: Binder): TypedExpression {
  const bound = bind(expression.operand, binder);
  const operand = expression.test === "null" ? bound : condition(bound, `IS ${expression.test.toUpperCase()}`, binder.environment);
  return fold({ kind: "is", type: BOOLEAN, operand, test: expression.test, negated: expression.negated }, binder.environment);
}

function between(expression: Of<"between">, binder: Binder): TypedExpression {
  const { environment } = binder;
  const operand = bind(expression.operand, binder);
  const low = bind(expression.low, binder);
  const high = bind(expression.high, binder);
  const operands = expression.negated
    ? [compare("<", operand, low, environment), compare(">", operand, high, environment)]
    : [compare(">=", operand, low, environment), compare("<=", operand, high, environment)];
  return fold({ kind: "logic", type: BOOLEAN, operator: expression.negated ? "or" : "and", operands }, environment);
}

/** IN with a list: its items are bound, cast and put into a set some hundred at a time. @throws DbError PlanQuery */
export function* inListInSteps(expression: Of<"in-list">, binder: Binder): Steps<TypedExpression> {
  const { environment } = binder;
  const { negated } = expression;
  const rows = rowsInList(expression)?.map((equality) => bind(equality, binder));
  if (rows !== undefined) return yield* logicOf(negated ? "and" : "or", rows, environment);
  const written: TypedExpression[] = [bind(expression.operand, binder)];
  for (const item of expression.items) {
    if (written.push(bind(item, binder)) % ITEMS_AT_ONCE === 0) yield;
  }
  const bound = equalTexts(written, environment);
  yield;
  const isDecimal = bound[0]?.type.kind === "decimal";
  // Integers are equal or not whatever their widths: a cast to the width where they meet could fail for what is merely unequal.
  const isInteger = bound.every(({ type }) => type.kind === "int" || type.kind === "null");
  const [operand, ...items] = isInteger ? bound : unify(isDecimal ? bound.map(asWrittenDecimal) : bound, "IN", environment);
  yield;
  if (operand === undefined) throw planError("IN needs an operand");
  if (!items.every((item) => item.kind === "literal")) {
    const operands: TypedExpression[] = [];
    for (const item of items) {
      if (operands.push(compare(negated ? "<>" : "=", operand, item, environment)) % ITEMS_AT_ONCE === 0) yield;
    }
    const [only] = operands;
    if (operands.length === 1 && only !== undefined) return only;
    return fold({ kind: "logic", type: BOOLEAN, operator: negated ? "and" : "or", operands }, environment);
  }
  const values: Present[] = [];
  const keys = new Set<string>();
  const numbers = new Set<number>();
  let areNumbers = items.length > ITEMS_AT_ONCE;
  for (const { value } of items) {
    if (value === undefined) continue;
    keys.add(valueKey(value));
    areNumbers &&= typeof value === "number";
    if (areNumbers) numbers.add(Number(value));
    if (values.push(value) % ITEMS_AT_ONCE === 0) yield;
  }
  const hasNull = values.length < items.length;
  const set = { kind: "in-set", type: BOOLEAN, operand, values, keys, hasNull, negated } as const;
  return fold(areNumbers ? { ...set, numbers } : set, environment);
}

/** Items of a list between two steps. */
const ITEMS_AT_ONCE = 512;

/** The operand and items of IN; where the operand is text, whole numbers become text as beside `=`. */
function equalTexts(bound: readonly TypedExpression[], environment: Environment): readonly TypedExpression[] {
  const [operand] = bound;
  if (operand === undefined || !isFreeText(operand)) return bound;
  return bound.map((item) => (item.type.kind === "int" ? castTo(item, STRING, environment) : item));
}

function like(expression: Of<"like">, binder: Binder): TypedExpression {
  const { environment } = binder;
  const operand = castTo(bind(expression.operand, binder), STRING, environment);
  const pattern = castTo(bind(expression.pattern, binder), STRING, environment);
  const { escape, insensitive, negated } = expression;
  return fold({ kind: "like", type: BOOLEAN, operand, pattern, escape, insensitive, negated }, environment);
}

function caseOf(expression: Of<"case">, binder: Binder): TypedExpression {
  const { environment } = binder;
  const subject = expression.operand === undefined ? undefined : bind(expression.operand, binder);
  const whens = expression.branches.map(({ when }) => {
    const bound = bind(when, binder);
    return subject === undefined ? condition(bound, "WHEN", environment) : compare("=", subject, bound, environment);
  });
  const results = expression.branches.map(({ result }) => bind(result, binder));
  const otherwise = expression.otherwise === undefined ? literal(NULL, undefined) : bind(expression.otherwise, binder);
  const unified = unify([...results, otherwise], "CASE", environment, chosenType);
  const branches = whens.map((when, i) => ({ when, result: unified[i] ?? otherwise }));
  const last = unified.at(-1) ?? otherwise;
  return fold({ kind: "case", type: last.type, branches, otherwise: last }, environment);
}

/** Functions that clients may know and that are not served: there are no unions, no partitions of tables, and `rate` is that of PromQL. */
const UNSERVED: ReadonlySet<string> = new Set(["union_extract", "union_tag", "pg_get_partition_ancestors", "rate"]);

/** Names that are not in a table of functions, for suggestions. */
const OTHER_NAMES: readonly string[] = ["unnest", "named_struct", "get_field", "arrow_cast", "arrow_try_cast"];

/** Names of `plan/bind/bind-nested.ts` that are no function of the registry. */
const NESTED_NAMES: ReadonlySet<string> = new Set(["named_struct", "get_field", SUBSCRIPT, SLICE]);

function call(expression: Of<"call">, binder: Binder): TypedExpression {
  const { name } = expression;
  if (expression.over !== undefined)
    throw planError(
      `the window call ${name}() OVER is not allowed here; it belongs in the select list, ORDER BY or QUALIFY, not inside another`,
    );
  if (name.startsWith("@@")) return literal(STRING, systemVariable(name, binder.environment));
  if (name === "arrow_cast" || name === "arrow_try_cast") return arrowCast(name, expression.args, binder);
  if (name === "unnest") throw planError("unnest() belongs in the select list, GROUP BY, ORDER BY or FROM; its argument is a list");
  const found = functionNamed(name);
  if (found === undefined && !NESTED_NAMES.has(name)) {
    if (aggregateNamed(name) !== undefined)
      throw planError(`aggregate ${name}() is not allowed here; it belongs in the select list, HAVING or ORDER BY`);
    if (windowFunctionNamed(name) !== undefined) throw planError(`${name}() is a window function: it needs OVER`);
    if (UNSERVED.has(name)) throw notSupported(`${name}()`);
    const near = nearestName(name, [...functionNames(), ...aggregateNames(), ...WINDOW_FUNCTION_NAMES, ...OTHER_NAMES]);
    throw planError(`Invalid function '${name}'.${near === undefined ? "" : `\nDid you mean '${near}'?`}`);
  }
  if (
    expression.star ||
    expression.distinct ||
    expression.orderBy.length > 0 ||
    expression.filter !== undefined ||
    expression.nulls !== undefined
  ) {
    throw planError(`${name}() is no aggregate: *, DISTINCT, ORDER BY, FILTER and IGNORE NULLS do not go with it`);
  }
  const args = withUnitText(name, expression.args).map((argument) => bind(argument, binder));
  const bindCall: BindCall = (inner, innerName, given) => required(inner, innerName, given, binder);
  const special = constantCall(name, args, binder.environment, bindCall) ?? nestedCall(name, args, binder.environment, bindCall);
  if (special !== undefined) return special;
  if (found === undefined) throw planError(`Invalid function '${name}'.`);
  return required(found, name, args, binder);
}

/** `timestampdiff(SECOND, a, b)`: a unit without quotes is the same as one with them. */
function withUnitText(name: string, args: readonly Expression[]): readonly Expression[] {
  const [first, ...rest] = args;
  if (!UNIT_FIRST.has(name) || rest.length < 2 || first?.kind !== "column" || first.quoted || first.name.length !== 1) return args;
  const [word = ""] = first.name;
  return isUnitWord(word) ? [{ kind: "string", value: word, span: first.span }, ...rest] : args;
}

/** `arrow_cast(x, 'Int64')`: the type is a constant, so it is a cast. */
function arrowCast(name: string, args: readonly Expression[], binder: Binder): TypedExpression {
  const [operand, target] = args.map((argument) => bind(argument, binder));
  if (operand === undefined || args.length !== 2 || target?.kind !== "literal" || typeof target.value !== "string") {
    throw planError(`${name} takes a value and the name of an Arrow type as a constant, e.g. ${name}(x, 'Int64')`);
  }
  const type = arrowTypeNamed(target.value);
  if (type === undefined) throw planError(`${name}: unknown or unsupported Arrow type '${target.value.slice(0, 80)}'`);
  return castTo(operand, type, binder.environment, name === "arrow_try_cast");
}

function required(found: ScalarFunction, name: string, args: readonly TypedExpression[], binder: Binder): TypedExpression {
  const bound = callOf(found, args, binder);
  if (bound !== undefined) return bound;
  throw noMatch(
    name,
    found,
    args.map((argument) => argument.type),
  );
}

function callOf(found: ScalarFunction | undefined, given: readonly TypedExpression[], binder: Binder): TypedExpression | undefined {
  const args = besideUnsigned(given);
  const functionType = found?.resolve(args.map((argument) => argument.type));
  if (found === undefined || functionType === undefined) return undefined;
  const cast = args.map((argument, i) => castTo(argument, functionType.args[i] ?? argument.type, binder.environment));
  const bound: TypedExpression = { kind: "call", type: functionType.result, function: found, functionType, args: cast };
  // What JSON holds gets its type by the cast around it, which must still see the call.
  return isUntypedMember(bound) ? bound : fold(bound, binder.environment);
}

/** The constant value of an expression without columns. @throws DbError PlanQuery, Unsupported */
export function bindConstant(expression: Expression, environment: Environment): Extract<TypedExpression, { kind: "literal" }> {
  const bound = bind(expression, { scope: [], environment });
  if (bound.kind === "literal") return bound;
  // While a statement is described: what stands alone where a constant must is a number, of rows for instance.
  if (bound.kind === "parameter" && castTo(bound, INT64, environment).kind === "parameter")
    return { kind: "literal", type: INT64, value: undefined };
  const isConstant = columnsOf(bound).size === 0 && !isVolatile(bound) && !hasParameter(bound);
  throw notSupported(isConstant ? "a constant in this place that takes long to compute" : "a value that is no constant in this place");
}
