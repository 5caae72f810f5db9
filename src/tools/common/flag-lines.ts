import type { Flag } from "../../config/flag.ts";

/** The flags of a tool as lines of its help. */
export function flagLines(flags: readonly Flag[]): string {
  const rows = flags.map((flag) => {
    const short = flag.short === undefined ? "    " : `-${flag.short}, `;
    return [`${short}--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`, flag.help] as const;
  });
  const width = Math.max(...rows.map(([usage]) => usage.length));
  return rows.map(([usage, help]) => `  ${usage.padEnd(width)}  ${help}`).join("\n");
}
