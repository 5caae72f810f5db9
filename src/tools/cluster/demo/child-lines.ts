/** What the parts of a demo say, line by line, under the name of who says it. */

/** What is shown of a line, and what it says of its part. */
export interface ShownLine {
  /** undefined: nothing is shown. */
  readonly text: string | undefined;
  /** `http://host:port` of a part that says it is ready; "" where it names none. */
  readonly readyAt: string | undefined;
}

/** Most characters that a part is waited for to end a line with. Reason: memory; longer ones are shown in pieces. */
const LINE_CHARACTERS_MAX = 64 * 1024;
/** Fields of a log line that are shown in front. */
const FRONT: readonly string[] = ["level", "time", "target", "msg"];

/** A line of a server's log, which is JSON, as words; what is none stays as it is. */
export function shownLogLine(line: string): ShownLine {
  const entry = entryOf(line);
  if (entry === undefined) return { text: line, readyAt: undefined };
  const { level, target, msg } = entry;
  const fields = Object.entries(entry).filter(([name]) => !FRONT.includes(name));
  const shown = fields.map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`).join("");
  const address = entry["address"];
  const isReady = target === "main" && msg === "ready";
  return {
    text: `${String(level).toUpperCase()} ${String(target)}: ${String(msg)}${shown}`,
    readyAt: isReady ? (typeof address === "string" ? address : "") : undefined,
  };
}

/**
 * Lines of NATS that say nothing here: warnings and worse are shown, but that passwords, new ones each time, are not hashed, and that it is
 * asked whether it is ready before it is.
 */
const NATS_QUIET = /\[(?:INF|DBG|TRC)\]|Plaintext passwords detected|failed to be ready for connections/;

/** A line of the log of NATS. */
export function shownNatsLine(line: string): ShownLine {
  return { text: NATS_QUIET.test(line) ? undefined : line, readyAt: undefined };
}

function entryOf(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null && "msg" in entry ? (entry as Readonly<Record<string, unknown>>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // Words that begin with a brace.
    throw error;
  }
}

/** Cuts bytes into lines, without their ends; the last one may lack its own. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const piece of bytes) {
    const parts = (tail + decoder.decode(piece, { stream: true })).split("\n");
    tail = parts.pop() ?? "";
    for (const line of parts) yield line.replace(/\r$/, "");
    if (tail.length > LINE_CHARACTERS_MAX) {
      yield tail;
      tail = "";
    }
  }
  if (tail !== "") yield tail;
}
