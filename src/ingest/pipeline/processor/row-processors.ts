/** Processors that look at the row or at values with structure: `filter`, `select`, `simple_extract`, `json_parse`, `json_path`. */
import { errorText } from "../../../base/error.ts";
import type { Options } from "../definition.ts";
import { failure, quoted } from "../failure.ts";
import { compileJsonPath } from "../json/json-path.ts";
import { jsonValue } from "../../common/json-value.ts";
import { fieldOf, isObject, kindOf, type PipelineObject, type PipelineValue, setField } from "../../common/value.ts";
import { missingField, type Processor, valueProcessor, wrongType } from "./processor.ts";

/** Compiles a `filter` processor. @throws DbError InvalidArguments */
export function filterProcessor(options: Options): Processor {
  options.choice("mode", ["simple"], "simple");
  const wanted = options.choice("match_op", ["in", "not_in"], "in") === "in";
  const ignoreCase = options.flag("case_insensitive", true);
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const targets = new Set(options.texts("targets").map(fold));
  if (targets.size === 0) throw options.refused("targets", "is required");
  const fields = options.fields();
  return {
    run: (row) => {
      for (const { input } of fields) {
        const value = fieldOf(row, input);
        if (value === undefined) continue;
        if (typeof value !== "string") throw wrongType("filter", "string", value);
        if (targets.has(fold(value)) === wanted) return null;
      }
      return row;
    },
  };
}

/** Compiles a `select` processor. @throws DbError InvalidArguments */
export function selectProcessor(options: Options): Processor {
  const fields = options.fields();
  if (options.choice("type", ["include", "exclude"], "include") === "exclude") {
    return {
      run: (row) => {
        for (const { input } of fields) delete row[input];
        return row;
      },
    };
  }
  return {
    run: (row) => {
      const kept: PipelineObject = {};
      for (const { input, output } of fields) {
        const value = fieldOf(row, input);
        if (value !== undefined) setField(kept, output, value);
      }
      return kept;
    },
  };
}

/** Compiles a `simple_extract` processor. @throws DbError InvalidArguments */
export function simpleExtractProcessor(options: Options): Processor {
  const key = options.text("key");
  if (key === undefined || key === "") throw options.refused("key", "is required");
  const steps = key.split(".");
  return valueProcessor(options, (value) => {
    let at: PipelineValue = value;
    for (const step of steps) {
      if (!isObject(at)) return null;
      at = fieldOf(at, step);
    }
    return at ?? null;
  });
}

/** Compiles a `json_parse` processor. @throws DbError InvalidArguments */
export function jsonParseProcessor(options: Options): Processor {
  const { ignoreMissing } = options;
  const fields = options.fields();
  return {
    run: (row) => {
      for (const { input, output } of fields) {
        const value = fieldOf(row, input);
        if (value === undefined) {
          if (ignoreMissing) continue;
          throw missingField("json_parse", input);
        }
        if (typeof value !== "string") throw failure(`Field ${quoted(value)} must be a string`);
        setField(row, output, parsed(value));
      }
      return row;
    },
  };
}

function parsed(text: string): PipelineValue {
  let value: PipelineValue;
  try {
    value = jsonValue(text);
  } catch (error) {
    throw failure(`Processor json_parse: failed to parse ${quoted(text)}: ${errorText(error)}`);
  }
  const kind = kindOf(value);
  if (kind !== "object" && kind !== "array")
    throw failure(`Processor json_parse: unsupported value ${quoted(value)}, expect object or array`);
  return value;
}

/** Compiles a `json_path` processor. @throws DbError InvalidArguments */
export function jsonPathProcessor(options: Options): Processor {
  const text = options.text("json_path");
  if (text === undefined) throw options.refused("json_path", "is required");
  const path = compileJsonPath(text);
  const index = options.wholeNumber("result_index");
  return valueProcessor(options, (value) => {
    const found = path(value);
    return index === undefined ? found : (found[index] ?? null);
  });
}
