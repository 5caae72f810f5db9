/**
 * Expressions over texts, a whole batch at a time: what reads texts and gives truths or numbers, or texts again, from bytes to bytes.
 *
 *   lower(substr(s, 1, 4)) = 'abcd'      texts of s ─► substr ─► lower ─► comparison ─► 0 and 1
 *
 * Nothing here throws for a value: where a function cannot say what a row is, the whole gives undefined, and the interpreter runs the batch
 * and tells the error. So branches of CASE may be computed for rows that do not take them.
 */
import type { Batch } from "../../column/batch.ts";
import { textLength } from "../../column/coded-text.ts";
import { pickedValidity, type PickedRows, textsOf } from "../../column/texts.ts";
import type { NumberArray, Validity, Vector } from "../../column/vector.ts";
import { chosenTexts } from "../function/columns/choose.ts";
import { CASE_BYTES, comparedTexts, comparedWithText } from "../function/columns/compare.ts";
import { bytePattern, likeRows } from "../function/columns/like.ts";
import { bothPresent, numbers, texts as textOperand, textsOfOperand, validityOf } from "../function/columns/operand.ts";
import { numbersOfTexts, wholeNumberTexts } from "../function/columns/number-texts.ts";
import { TextSet } from "../function/columns/text-set.ts";
import type { Operand } from "../function/signature/column-function.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { Texts } from "../../column/texts.ts";
import { type CompareOperator, comparisonOf, operandsOf, type TypedExpression } from "./expression.ts";

/** Computes an expression over the rows of a batch, or over some of them; undefined: the interpreter has to. */
export type ColumnRun = (batch: Batch, picked: PickedRows | undefined) => Operand | undefined;

/** How truths and numbers are computed that read no texts directly; undefined: not so. */
export type OtherRun = (batch: Batch) => Vector | undefined;

/** What expressions over texts are made with. */
export interface ColumnParts {
  readonly environment: Environment;
  readonly other: (expression: TypedExpression) => OtherRun;
}

/** Most bytes of texts of one column that are looked at in one go. Reason: others wait meanwhile. More: the interpreter, in turns. */
const COLUMN_BYTES_MAX: number = 16 * 1024 * 1024;
/** Most branches of CASE and arguments of a call. Reason: each takes some bytes a row, which nobody counts. */
const BRANCHES_MAX = 64;

type Of<K extends TypedExpression["kind"]> = Extract<TypedExpression, { kind: K }>;

const isText = ({ type }: TypedExpression): boolean => type.kind === "string";

/** Whether an expression gives truths or numbers and takes texts. */
export function readsTexts(expression: TypedExpression): boolean {
  if (expression.kind === "column" || expression.kind === "literal") return false;
  const { kind } = expression.type;
  if (expression.kind === "cast") return (kind === "int" || kind === "float") && isText(expression.operand);
  return (kind === "boolean" || kind === "int") && expression.kind !== "case" && operandsOf(expression).some(isText);
}

/** How an expression over texts is computed, where it gives truths, numbers or texts; undefined: not so. */
export function columnRun(expression: TypedExpression, parts: ColumnParts): ColumnRun | undefined {
  if (!isText(expression) && !readsTexts(expression)) return otherRun(expression, parts);
  switch (expression.kind) {
    case "literal":
      return () => ({ kind: "constant", value: expression.value });
    case "column":
      return textColumn(expression.index);
    case "call":
      return callRun(expression, parts);
    case "compare":
      return comparisonRun(expression, parts);
    case "like":
      return likeRun(expression, parts);
    case "in-set":
      return memberRun(expression, parts);
    case "is":
      return presenceRun(expression, parts);
    case "case":
      return caseRun(expression, parts);
    case "cast":
      return castRun(expression, parts);
    default:
      return undefined;
  }
}

const rowsOf = (batch: Batch, picked: PickedRows | undefined): number => picked?.count ?? batch.rowCount;

function textColumn(index: number): ColumnRun {
  return (batch, picked) => {
    const vector = batch.vectors[index];
    if (vector === undefined || textBytes(vector, batch.rowCount) > COLUMN_BYTES_MAX) return undefined;
    const found = textsOf(vector, batch.rowCount, picked);
    return found === undefined ? undefined : textOperand(found);
  };
}

/** Bytes of the texts of a vector's rows; those of strings count for nothing, since each becomes bytes once. */
function textBytes(vector: Vector, rowCount: number): number {
  if (vector.kind === "coded") return textLength(vector, 0, rowCount);
  return vector.kind === "bytes" ? (vector.offsets[rowCount] as number) - (vector.offsets[0] as number) : 0;
}

/** Truths and numbers that read no texts themselves. */
function otherRun(expression: TypedExpression, parts: ColumnParts): ColumnRun | undefined {
  if (expression.kind === "literal") return () => ({ kind: "constant", value: expression.value });
  const { kind } = expression.type;
  if (kind !== "boolean" && kind !== "int") return undefined;
  const run = parts.other(expression);
  return (batch, picked) => {
    const vector = run(batch);
    if (vector?.kind !== "number") return undefined;
    const { values, validity } = vector;
    return picked === undefined ? numbers(values, validity) : numbers(pickedNumbers(values, picked), pickedValidity(validity, picked));
  };
}

function pickedNumbers(values: NumberArray, { selection, count }: PickedRows): NumberArray {
  const own = new Float64Array(count);
  for (let i = 0; i < count; i++) own[i] = values[selection[i] as number] as number;
  return own;
}

function runsOf(expressions: readonly TypedExpression[], parts: ColumnParts): readonly ColumnRun[] | undefined {
  const runs: ColumnRun[] = [];
  for (const expression of expressions) {
    const run = columnRun(expression, parts);
    if (run === undefined) return undefined;
    runs.push(run);
  }
  return runs;
}

function callRun({ function: called, args }: Of<"call">, parts: ColumnParts): ColumnRun | undefined {
  const { columns } = called;
  const runs = columns === undefined || args.length > BRANCHES_MAX ? undefined : runsOf(args, parts);
  if (columns === undefined || runs === undefined) return undefined;
  const { environment } = parts;
  const isStrict = called.nulls === "propagate";
  return (batch, picked) => {
    const rowCount = rowsOf(batch, picked);
    const given: Operand[] = [];
    let present: Validity;
    for (const run of runs) {
      const operand = run(batch, picked);
      if (operand === undefined || (isStrict && operand.kind === "constant" && operand.value === undefined)) return undefined;
      given.push(operand);
      present = bothPresent(present, validityOf(operand), rowCount);
    }
    return columns(given, { environment, rowCount, present });
  };
}

/** The texts that a run gives. */
function textsFrom(run: ColumnRun, batch: Batch, picked: PickedRows | undefined): Texts | undefined {
  const operand = run(batch, picked);
  return operand === undefined ? undefined : textsOfOperand(operand, rowsOf(batch, picked));
}

function comparisonRun(expression: Of<"compare">, parts: ColumnParts): ColumnRun | undefined {
  const turned = comparisonOf(expression);
  if (turned !== undefined && typeof turned.constant.value === "string") {
    return constantComparison(turned.subject, turned.operator, turned.constant.value, parts);
  }
  const [left, right] = runsOf([expression.left, expression.right], parts) ?? [];
  if (left === undefined || right === undefined) return undefined;
  const { operator } = expression;
  return (batch, picked) => {
    const rowCount = rowsOf(batch, picked);
    const a = textsFrom(left, batch, picked);
    const b = textsFrom(right, batch, picked);
    if (a === undefined || b === undefined) return undefined;
    return numbers(comparedTexts(a, b, rowCount, operator), bothPresent(a.validity, b.validity, rowCount));
  };
}

function constantComparison(subject: TypedExpression, operator: CompareOperator, value: string, parts: ColumnParts): ColumnRun | undefined {
  const run = columnRun(subject, parts);
  if (run === undefined) return undefined;
  const folded = foldedRun(subject, operator, value, parts);
  return (batch, picked) => {
    const quick = folded?.(batch, picked);
    if (quick !== undefined) return quick;
    const given = textsFrom(run, batch, picked);
    return given === undefined ? undefined : numbers(comparedWithText(given, rowsOf(batch, picked), operator, value), given.validity);
  };
}

/** `lower(text) = 'x'` without the text in lower case, where all is ASCII. */
function foldedRun(subject: TypedExpression, operator: CompareOperator, value: string, parts: ColumnParts): ColumnRun | undefined {
  const letterCase = subject.kind === "call" ? CASES[subject.function.name] : undefined;
  const [inner] = subject.kind === "call" ? subject.args : [];
  const run = letterCase === undefined || inner?.kind !== "column" ? undefined : columnRun(inner, parts);
  if (run === undefined || letterCase === undefined) return undefined;
  return (batch, picked) => {
    const given = textsFrom(run, batch, picked);
    if (given?.ascii !== true) return undefined;
    return numbers(comparedWithText(given, rowsOf(batch, picked), operator, value, CASE_BYTES[letterCase]), given.validity);
  };
}

const CASES: Readonly<Record<string, "lower" | "upper">> = { lower: "lower", lcase: "lower", upper: "upper", ucase: "upper" };

function negate(truths: Uint8Array): Uint8Array {
  for (let row = 0; row < truths.length; row++) truths[row] = 1 - (truths[row] as number);
  return truths;
}

function likeRun({ operand, pattern, escape, insensitive, negated }: Of<"like">, parts: ColumnParts): ColumnRun | undefined {
  const run = columnRun(operand, parts);
  if (run === undefined || pattern.kind !== "literal" || typeof pattern.value !== "string") return undefined;
  const ready = bytePattern(pattern.value, escape, insensitive);
  if (ready === undefined) return undefined;
  return (batch, picked) => {
    const given = textsFrom(run, batch, picked);
    if (given === undefined) return undefined;
    const meets = likeRows(given, rowsOf(batch, picked), given.validity, ready);
    return meets === undefined ? undefined : numbers(negated ? negate(meets) : meets, given.validity);
  };
}

function memberRun({ operand, values, hasNull, negated }: Of<"in-set">, parts: ColumnParts): ColumnRun | undefined {
  const run = columnRun(operand, parts);
  if (run === undefined || !values.every((value) => typeof value === "string")) return undefined;
  const set = new TextSet(values as readonly string[]); // all are strings
  return (batch, picked) => {
    const rowCount = rowsOf(batch, picked);
    const given = textsFrom(run, batch, picked);
    if (given === undefined) return undefined;
    const holds = new Uint8Array(rowCount).fill(negated ? 1 : 0);
    set.mark(given, rowCount, holds, negated ? 0 : 1);
    // A miss in a list with NULL is NULL.
    if (!hasNull) return numbers(holds, given.validity);
    const hits = negated ? negate(holds.slice()) : holds;
    return numbers(holds, bothPresent(hits, given.validity, rowCount));
  };
}

/** `IS NULL` of what is computed; of a column loops say it themselves. */
function presenceRun({ operand, test, negated }: Of<"is">, parts: ColumnParts): ColumnRun | undefined {
  const run = test === "null" || test === "unknown" ? columnRun(operand, parts) : undefined;
  if (run === undefined) return undefined;
  return (batch, picked) => {
    const rowCount = rowsOf(batch, picked);
    const given = textsFrom(run, batch, picked);
    if (given === undefined) return undefined;
    const holds = new Uint8Array(rowCount).fill(negated ? 1 : 0);
    const { validity } = given;
    if (validity !== undefined) for (let row = 0; row < rowCount; row++) if (validity[row] === 0) holds[row] = negated ? 0 : 1;
    return numbers(holds, undefined);
  };
}

function caseRun({ branches, otherwise }: Of<"case">, parts: ColumnParts): ColumnRun | undefined {
  const conditions = runsOf(
    branches.map(({ when }) => when),
    parts,
  );
  const results = runsOf([...branches.map(({ result }) => result), otherwise], parts);
  if (conditions === undefined || results === undefined || results.length > BRANCHES_MAX) return undefined;
  return (batch, picked) => {
    const rowCount = rowsOf(batch, picked);
    const chosen = new Uint8Array(rowCount).fill(branches.length);
    for (let branch = branches.length - 1; branch >= 0; branch--) {
      const when = conditions[branch]?.(batch, picked);
      if (when?.kind === "constant" && when.value === true) chosen.fill(branch);
      else if (when?.kind === "numbers") choose(when.values, when.validity, branch, chosen);
      else if (when === undefined || when.kind === "texts") return undefined;
    }
    const choices: Texts[] = [];
    for (const run of results) {
      const given = textsFrom(run, batch, picked);
      if (given === undefined) return undefined;
      choices.push(given);
    }
    const made = chosenTexts(choices, chosen, rowCount);
    return made === undefined ? undefined : textOperand(made);
  };
}

/** Whole numbers as text, and texts as numbers. */
function castRun({ operand, type, safe }: Of<"cast">, parts: ColumnParts): ColumnRun | undefined {
  if (isText(operand)) {
    const texts = columnRun(operand, parts);
    if (texts === undefined || (type.kind !== "int" && type.kind !== "float")) return texts;
    return (batch, picked) => {
      const given = textsFrom(texts, batch, picked);
      return given === undefined ? undefined : numbersOfTexts(given, rowsOf(batch, picked), type, safe);
    };
  }
  const run = operand.type.kind === "int" ? otherRun(operand, parts) : undefined;
  if (run === undefined) return undefined;
  return (batch, picked) => {
    const given = run(batch, picked);
    const made = given?.kind === "numbers" ? wholeNumberTexts(given.values, given.validity, rowsOf(batch, picked)) : undefined;
    return made === undefined ? undefined : textOperand(made);
  };
}

function choose(values: NumberArray, validity: Validity, branch: number, chosen: Uint8Array): void {
  for (let row = 0; row < chosen.length; row++) {
    if (values[row] !== 0 && (validity === undefined || validity[row] !== 0)) chosen[row] = branch;
  }
}
