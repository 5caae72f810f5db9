/** The text of a tool's `--help`. */
import type { Flag } from "../../config/flag.ts";

/** What the help of a tool is made of. */
export interface HelpParts {
  /** A sentence or two. */
  readonly about: string;
  readonly usage: readonly string[];
  readonly examples: readonly string[];
  readonly flags: readonly Flag[];
  /** What stands behind the flags. */
  readonly notes?: readonly string[];
}

/** A help: what it does, how it is called, examples, flags, notes. */
export function helpText({ about, usage, examples, flags, notes = [] }: HelpParts): string {
  const shown = flags.filter(({ hidden }) => hidden !== true);
  const width = Math.max(...shown.map((flag) => flagUsage(flag).length));
  const lines = [
    about,
    "",
    "Usage:",
    ...usage.map((line) => `  ${line}`),
    "",
    "Examples:",
    ...examples.map((line) => `  ${line}`),
    "",
    "Flags:",
    ...shown.map((flag) => `  ${flagUsage(flag).padEnd(width)}  ${flag.help}`),
    `  ${"-h, --help".padEnd(width)}  this text`,
  ];
  if (notes.length > 0) lines.push("", ...notes);
  return `${lines.join("\n")}\n`;
}

function flagUsage(flag: Flag): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  return `${short}--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`;
}
