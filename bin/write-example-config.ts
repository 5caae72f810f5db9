/**
 * Writes `deploy/varve.toml`: every key of the configuration, why its default is what it is, what it takes, and the default itself, from
 * `src/config/knobs.ts`. Run it after a change there: `bun run bin/write-example-config.ts`.
 *
 * Keys are comments, so that a file in use goes on with the defaults of the version that reads it, and paths go on to follow the data's.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Knob } from "../src/config/knob.ts";
import { KNOBS } from "../src/config/knobs.ts";

const TARGET = join(import.meta.dir, "../deploy/varve.toml");
/** Characters of a line. */
const LINE_MAX = 110;
const HEAD = `# Varve's configuration: every key with its default, each behind a "#". Take the "#" away to set another value.
#
# Start with it: varve --config-file varve.toml. Flags win over this file, this file over the environment
# (VARVE__HTTP__ADDR for http.addr), the environment over the defaults. GET /config shows what is in force.
#
# Made by bin/write-example-config.ts.
`;

/** The text of the file. */
export function exampleConfig(): string {
  const sections = Object.entries(KNOBS).map(([name, knobs]) => {
    const entries = Object.values<Knob<unknown>>(knobs).map((knob) => entryOf(knob, name === "general" ? "" : `${name}.`));
    return [...(name === "general" ? [] : [`[${name}]\n`]), ...entries].join("\n");
  });
  return `${HEAD}\n${sections.join("\n")}`;
}

function entryOf(knob: Knob<unknown>, prefix: string): string {
  const { kind, key, reason, inert, derive, example } = knob;
  const value = kind.toToml(knob.default ?? example);
  if (value === undefined) throw new Error(`cannot show ${key}: it has neither a default nor an example`);
  const notes = [
    ...(inert === undefined ? [] : [`Without effect: ${inert.why}.`]),
    reason,
    ...(kind.want === "true or false" ? [] : [`It takes ${kind.want}.`]),
    ...(derive === undefined ? [] : ["It follows other keys of [storage] unless it is set."]),
  ];
  const unset = knob.default === undefined ? "# Not set by default; an example:\n" : "";
  return `${wrapped(notes.join(" "))}\n${unset}#${key.slice(prefix.length)} = ${value}\n`;
}

/** A text as lines of comments. */
function wrapped(text: string): string {
  const lines: string[] = [];
  let line = "#";
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > LINE_MAX) {
      lines.push(line);
      line = "#";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

if (import.meta.main) writeFileSync(TARGET, exampleConfig());
