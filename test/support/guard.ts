/** Processes that tests start leave with them, also when a run of tests is killed. */

/**
 * Kills a child once this process is gone, however it went: the guard waits for the end of its own standard input.
 *
 * @returns resolves when the child has ended, and its guard with it
 */
export async function guard(child: Pick<Bun.Subprocess, "pid" | "exited">): Promise<void> {
  const waiting = Bun.spawn(["sh", "-c", `read _; kill -9 ${child.pid}`], { stdin: "pipe", stdout: "ignore", stderr: "ignore" });
  await child.exited;
  waiting.kill("SIGKILL"); // Another process may get that number.
  await waiting.exited;
}
