/** A process of a trial that is killed, stands still, and goes on. */
import type { ServerProcess } from "../../bench/macro/server-process.ts";

/** See the file header. */
export class HurtProcess {
  private process: ServerProcess | undefined;

  /** The one that runs from now on; the last one was killed. */
  began(process: ServerProcess): void {
    this.process = process;
  }

  async kill(): Promise<void> {
    const { process: killed } = this;
    this.process = undefined;
    await killed?.kill();
  }

  stop(): void {
    this.signal("SIGSTOP");
  }

  goOn(): void {
    this.signal("SIGCONT");
  }

  /** One that was killed is not told of. */
  isRunning(): boolean {
    return this.process?.isRunning() ?? true;
  }

  private signal(name: "SIGSTOP" | "SIGCONT"): void {
    if (this.process?.isRunning() === true) process.kill(this.process.pid, name);
  }
}
