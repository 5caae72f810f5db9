import type { TableSchema } from "../../table/schema.ts";

/** Whether tags that are left out mean the same under both schemas: if not, keys of decoders are void. */
export function sameTagDefaults(before: TableSchema, after: TableSchema): boolean {
  const defaults = (schema: TableSchema): Map<number, string> =>
    new Map(
      schema.columns.flatMap((c) => (c.semantic === "tag" && c.default?.kind === "literal" ? [[c.id, String(c.default.value)]] : [])),
    );
  const [old, now] = [defaults(before), defaults(after)];
  return old.size === now.size && [...old].every(([id, text]) => now.get(id) === text);
}
