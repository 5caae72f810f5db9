/** What processors have in common. */
import type { TimeUnit } from "../../../column/data-type.ts";
import type { FieldSpec, Options } from "../definition.ts";
import { failure, quoted } from "../failure.ts";
import { fieldOf, type PipelineObject, type PipelineValue, setField } from "../../common/value.ts";

/** One step of a pipeline. */
export interface Processor {
  /** Changes the row. Gives what it becomes: itself, null when it is filtered, rows, another one. @throws DbError InvalidArguments */
  run(row: PipelineObject, run: RunContext): PipelineValue;
  /** Time fields that it is sure to make, for pipelines without a transform. */
  readonly times?: readonly { readonly name: string; readonly unit: TimeUnit }[];
}

/** What a processor may know of the run. */
export interface RunContext {
  readonly nowNanos: bigint;
}

/** The error of a row without a field. */
export function missingField(processor: string, field: string): Error {
  return failure(`Processor ${processor}: missing field: ${field}`);
}

/** The error of a value of another type. */
export function wrongType(processor: string, expected: string, value: PipelineValue): Error {
  return failure(`Processor ${processor}: expect ${expected} value, but got ${quoted(value)}`);
}

/** A processor that turns the text of each field into something else. */
export function textProcessor(options: Options, convert: (text: string, field: FieldSpec) => PipelineValue): Processor {
  return valueProcessor(options, (value, field) => {
    if (typeof value !== "string") throw wrongType(options.processor, "string", value);
    return convert(value, field);
  });
}

/** A processor that turns the value of each field into something else. */
export function valueProcessor(options: Options, convert: (value: PipelineValue, field: FieldSpec) => PipelineValue): Processor {
  return eachField(options, (row, value, field) => setField(row, field.output, convert(value, field)));
}

/** A processor that looks at each field which has a value. */
export function eachField(options: Options, visit: (row: PipelineObject, value: PipelineValue, field: FieldSpec) => void): Processor {
  const { processor, ignoreMissing } = options;
  const fields = options.fields();
  return {
    run: (row) => {
      for (const field of fields) {
        const value = fieldOf(row, field.input);
        if (value !== undefined && value !== null) visit(row, value, field);
        else if (!ignoreMissing) throw missingField(processor, field.input);
      }
      return row;
    },
  };
}
