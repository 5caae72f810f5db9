/**
 * What is read again while the server runs, when its operator asks for it (SIGHUP): accounts, certificates. Each says in the log what it
 * read; one that cannot use what it finds keeps what it has, and says so.
 */
import { errorText } from "../error.ts";
import type { Logger } from "../log.ts";

/** Reads again; resolves with whether what is in force is what was found. */
export type Reload = () => Promise<boolean> | boolean;

/** All of them. Invariant: one round at a time; who asks in the midst of one gets another after it. */
export class Reloads {
  private readonly logger: Logger;
  private readonly parts: { readonly name: string; readonly reload: Reload }[] = [];
  private last: Promise<void> = Promise.resolve();
  private isWaiting = false;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** @param name as the log calls it, e.g. "accounts" */
  add(name: string, reload: Reload): void {
    this.parts.push({ name, reload });
  }

  /** Reads all again. Many calls at once are one round beside the one that runs. Never rejects. */
  run(): Promise<void> {
    if (this.isWaiting) return this.last;
    this.isWaiting = true;
    this.last = this.last.then(() => this.round());
    return this.last;
  }

  private async round(): Promise<void> {
    this.isWaiting = false;
    const kept: string[] = [];
    for (const { name, reload } of this.parts) {
      try {
        if (!(await reload())) kept.push(name);
      } catch (thrown) {
        this.logger.error({ part: name, error: errorText(thrown) }, "cannot reload a part: what it has stays in force");
        kept.push(name);
      }
    }
    const read = this.parts.map(({ name }) => name).filter((name) => !kept.includes(name));
    if (kept.length === 0) this.logger.info({ read }, "reloaded");
    else this.logger.warn({ read, kept }, "reloaded in part: what was in force before stays for the others");
  }
}
