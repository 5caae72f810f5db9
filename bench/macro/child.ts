/** Programs of this benchmark that run as their own process and answer in lines of JSON. */

/**
 * Runs a TypeScript file of this folder with Bun and returns the JSON it printed as its last line.
 * The caller names the type: both ends are in this folder.
 *
 * @throws Error when the program fails; its stderr goes to this process's stderr.
 */
export async function runProgram<T>(file: URL, args: readonly string[], input?: string): Promise<T> {
  const path = Bun.fileURLToPath(file);
  const child = Bun.spawn([process.execPath, "run", path, ...args], {
    stdin: input === undefined ? "ignore" : new Blob([input]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await new Response(child.stdout).text();
  const status = await child.exited;
  if (status !== 0) throw new Error(`cannot run ${path}: it ended with status ${status}`);
  return JSON.parse(output.trim().split("\n").at(-1) ?? "") as T;
}

/**
 * Runs a TypeScript file of this folder with Bun and gives the JSON of each line that it prints, as it comes. Who stops reading ends it.
 *
 * @throws Error when the program fails; its stderr goes to this process's stderr.
 */
export async function* streamProgram<T>(file: URL, args: readonly string[]): AsyncGenerator<T> {
  const path = Bun.fileURLToPath(file);
  const child = Bun.spawn([process.execPath, "run", path, ...args], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const decoder = new TextDecoder();
  let rest = "";
  let hasEnded = false;
  try {
    for await (const piece of child.stdout) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line) as T;
    }
    hasEnded = true;
  } finally {
    if (!hasEnded) child.kill();
  }
  const status = await child.exited;
  if (status !== 0) throw new Error(`cannot run ${path}: it ended with status ${status}`);
}
