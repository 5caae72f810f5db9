import type { Engine } from "../../src/engine/engine.ts";
import { read } from "../engine/lines.ts";

/** What all tables of an engine hold: their columns, then their rows, as text. */
export async function rowsOf(engine: Engine): Promise<string> {
  const lines: string[] = [
    `databases: ${engine
      .databases()
      .map(({ name }) => name)
      .join(" ")}`,
  ];
  for (const { schema } of engine.tables("public")) {
    lines.push(`${schema.name}: ${schema.columns.map(({ name, semantic, type }) => `${name} ${semantic} ${type.kind}`).join(", ")}`);
    for (const row of (await read(engine, schema.name)).sort()) lines.push(`  ${row}`);
  }
  return `${lines.join("\n")}\n`;
}
