/**
 * What was read from files at the start, such as certificates, and is read again: when the operator asks (SIGHUP), and every now and then
 * where it is watched. Files that cannot be used leave what was read last in force, which a warning tells once.
 */
import { errorText } from "../error.ts";
import type { Logger } from "../log.ts";

/** How often files are read that are watched, milliseconds. They are a few kilobytes. */
const POLL_MILLIS = 2000;

/** What the log says of it. */
type Facts = Readonly<Record<string, string>>;

/** What of it differs from file to file. */
export interface RereadParts<T> {
  /** As it was read at the start. */
  readonly first: T;
  /** @throws Error that says what cannot be read */
  readonly read: () => T;
  readonly isSame: (one: T, other: T) => boolean;
  readonly factsOf: (read: T) => Facts;
  /** Puts it in force. @throws Error that says why it cannot be used: what was in force stays */
  readonly use: (read: T) => Facts;
  /** Lines of the log: it is as it was; it is in force; it cannot be used. */
  readonly lines: { readonly same: string; readonly used: string; readonly refused: string };
  /** What the last of them says beside the error. */
  readonly about?: Facts;
  readonly watch: boolean;
  readonly pollMillis?: number | undefined;
  readonly logger: Logger;
}

/** See the file header. */
export class RereadFiles<T> {
  private readonly parts: RereadParts<T>;
  private readonly poll: ReturnType<typeof setInterval> | undefined;
  private current: T;
  private problem: string | undefined;

  constructor(parts: RereadParts<T>) {
    this.parts = parts;
    this.current = parts.first;
    if (!parts.watch) return;
    this.poll = setInterval(() => this.look(false), parts.pollMillis ?? POLL_MILLIS);
    this.poll.unref();
  }

  /** Reads the files, and says what it finds whatever it said before. @returns whether what they hold is in force */
  reload(): boolean {
    this.problem = undefined;
    return this.look(true);
  }

  close(): void {
    clearInterval(this.poll);
  }

  /** @param isAsked the operator waits for a word */
  private look(isAsked: boolean): boolean {
    const { read, isSame, factsOf, use, lines, about, logger } = this.parts;
    try {
      const found = read();
      if (isSame(found, this.current)) {
        this.problem = undefined;
        if (isAsked) logger.info(factsOf(found), lines.same);
        return true;
      }
      const facts = use(found);
      this.current = found;
      this.problem = undefined;
      logger.info(facts, lines.used);
      return true;
    } catch (thrown) {
      const problem = errorText(thrown);
      if (problem !== this.problem) logger.warn({ ...about, error: problem }, lines.refused);
      this.problem = problem;
      return false;
    }
  }
}
