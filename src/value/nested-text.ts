/** Lists, structs and maps as text: `[1, , 3]`, `{a: 1, b: x}`, NULL empty (contract query.md 2.3). */
import type { DataType, NestedType } from "../column/data-type.ts";
import { decodeNested } from "../column/nested.ts";
import type { Present, Value } from "./any-value.ts";

/** The text of a nested value. @param textOfPart how a part that is not NULL is written */
export function nestedText(type: NestedType, bytes: Uint8Array, textOfPart: (part: Present, type: DataType) => string): string {
  const parts = decodeNested(type, bytes);
  const written = (part: Value, partType: DataType): string => {
    if (part === undefined) return "";
    return partType.kind === "binary" && part instanceof Uint8Array ? part.toHex() : textOfPart(part, partType);
  };
  switch (type.kind) {
    case "list":
      return `[${parts.map((part) => written(part, type.element)).join(", ")}]`;
    case "struct":
      return `{${type.fields.map((field, i) => `${field.name}: ${written(parts[i], field.type)}`).join(", ")}}`;
    case "map": {
      const entries: string[] = [];
      for (let i = 0; i + 1 < parts.length; i += 2) entries.push(`${written(parts[i], type.key)}: ${written(parts[i + 1], type.value)}`);
      return `{${entries.join(", ")}}`;
    }
  }
}
