/** `table_suffix`: a template such as `_${type}_${port}`, filled from a row. */
import { failure } from "./failure.ts";
import { plainText } from "./json/json-text.ts";
import { fieldOf, kindOf, type PipelineObject } from "../common/value.ts";

/** The suffix of a row; undefined when a variable is missing or neither text nor an int. */
export type TableSuffix = (row: PipelineObject) => string | undefined;

/** Compiles a template. Variables in `consumed` are never there. @throws DbError InvalidArguments */
export function compileTableSuffix(template: unknown, consumed: ReadonlySet<string>): TableSuffix {
  if (typeof template !== "string") throw failure("table_suffix must be a string");
  const parts = template.split(/\$\{([^{}]*)\}/); // text and names in turn
  const names = parts.filter((_, i) => i % 2 === 1).map((name) => name.trim());
  const texts = parts.filter((_, i) => i % 2 === 0);
  if (names.includes("")) throw failure(`table_suffix '${template}' has a variable without a name`);
  if (texts.some((text) => text.includes("${"))) throw failure(`table_suffix '${template}' has a variable without }`);
  return (row) => {
    let suffix = texts[0] ?? "";
    for (const [i, name] of names.entries()) {
      const value = consumed.has(name) ? undefined : fieldOf(row, name);
      const kind = kindOf(value);
      if (kind !== "string" && kind !== "int") return undefined;
      suffix += plainText(value) + (texts[i + 1] ?? "");
    }
    return suffix;
  };
}
