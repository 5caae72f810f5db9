/** Blocks of code in documents, and those among them that are run: `sh tour` and `ts tour`, each with the answer that the page shows. */

/** A fenced block: the words behind its fence, and its text. */
export interface Block {
  readonly kind: string;
  readonly text: string;
}

/** A command of a page, and what the page shows below it; undefined: nothing. */
export interface Stop {
  readonly language: "sh" | "ts";
  readonly command: string;
  readonly shown: string | undefined;
}

const FENCE = /^```([^\n]*)\n([\s\S]*?)^```$/gm;
/** Kinds of blocks that show an answer. */
const ANSWERS: readonly string[] = ["text", "json"];

/** All fenced blocks of a page. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(FENCE)].map(([, kind = "", text = ""]) => ({ kind, text: text.trimEnd() }));
}

/** The commands that are run, each with the answer in the block that follows. */
export function stopsOf(blocks: readonly Block[]): readonly Stop[] {
  return blocks.flatMap(({ kind, text }, index) => {
    if (kind !== "sh tour" && kind !== "ts tour") return [];
    const next = blocks[index + 1];
    const shown = next !== undefined && ANSWERS.includes(next.kind) ? next.text : undefined;
    return [{ language: kind === "sh tour" ? "sh" : "ts", command: text, shown } as const];
  });
}

/** What differs between two runs, made equal: line ends and the time a query took. */
export function settled(output: string): string {
  return output
    .replaceAll("\r\n", "\n")
    .trimEnd()
    .replaceAll(/"execution_time_ms":\d+/g, '"execution_time_ms":0');
}
