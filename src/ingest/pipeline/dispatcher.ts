/** `dispatcher`: sends rows to other tables and pipelines by the value of a field. */
import { isMapping, listOf, scalarText } from "./definition.ts";
import { failure } from "./failure.ts";
import { plainText } from "./json/json-text.ts";
import { fieldOf, kindOf, type PipelineObject, type PipelineValue, WholeFloat } from "../common/value.ts";
import { IDENTITY_NAME } from "./types.ts";

/** Where a row goes. */
export interface DispatchRule {
  readonly value: PipelineValue;
  readonly tableSuffix: string;
  /** Undefined: the built-in identity. */
  readonly pipeline: string | undefined;
}

/** See the file header. */
export interface Dispatcher {
  readonly rules: readonly DispatchRule[];
  /** The first rule that a row fits. */
  ruleOf(row: PipelineObject): DispatchRule | undefined;
}

/** Compiles `dispatcher`. @throws DbError InvalidArguments */
export function compileDispatcher(entry: unknown): Dispatcher {
  if (!isMapping(entry)) throw failure("dispatcher must be a mapping with field and rules");
  const { field } = entry;
  if (typeof field !== "string" || field === "") throw failure("Field is required for dispatcher");
  const rules = listOf(entry, "rules").map(compileRule);
  return {
    rules,
    ruleOf: (row) => {
      const value = fieldOf(row, field);
      return value === undefined ? undefined : rules.find((rule) => isSame(rule.value, value));
    },
  };
}

function compileRule(rule: unknown): DispatchRule {
  if (!isMapping(rule)) throw failure("dispatcher: a rule must be a mapping with value and table_suffix");
  const { value, table_suffix: tableSuffix, pipeline } = rule;
  if (tableSuffix === undefined || tableSuffix === null) throw failure("Table suffix is required for dispatcher rule");
  if (value === undefined) throw failure("Value is required for dispatcher rule");
  const suffix = scalarText(tableSuffix);
  if (suffix === undefined) throw failure("dispatcher: table_suffix must be a string");
  if (value !== null && typeof value === "object") throw failure("dispatcher: the value of a rule must be a scalar");
  if (pipeline !== undefined && pipeline !== null && typeof pipeline !== "string") throw failure("dispatcher: pipeline must be a name");
  const target = pipeline === IDENTITY_NAME ? undefined : (pipeline ?? undefined);
  return { value: value as PipelineValue, tableSuffix: suffix, pipeline: target }; // a scalar
}

function isSame(want: PipelineValue, value: PipelineValue): boolean {
  if (want === value) return true;
  if (value instanceof WholeFloat) return false;
  return kindOf(want) === "int" && kindOf(value) === "int" && plainText(want) === plainText(value);
}
