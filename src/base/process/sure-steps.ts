/**
 * Steps that must not fail: those that bring memory up to what the disk has already, such as rows whose log record is durable.
 *
 * If one throws, whatever it is (a broken invariant, an allocation that failed), memory lacks something that is stored. An acknowledgement
 * or a flush on top of it would make that last: the flush says that everything up to a sequence is in files. So the process ends at once,
 * and the next start makes memory whole from the disk.
 */
import { AssertionError, bugText } from "../assert.ts";

/** See the file header. One a thread, for all of its steps. */
export class SureSteps {
  private readonly onBug: (error: Error) => void;
  private failure: AssertionError | undefined;

  /** @param onBug ends the process, or has it ended; should it return, nothing is acknowledged any more */
  constructor(onBug: (error: Error) => void) {
    this.onBug = onBug;
  }

  /**
   * Does a step; `what` is a phrase for the operator.
   *
   * @throws AssertionError when the step threw anything, now or at an earlier call
   */
  run<T>(what: string, step: () => T): T {
    this.check();
    try {
      return step();
    } catch (error) {
      throw this.fail(what, error);
    }
  }

  /** Whether a step failed. */
  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Call it before something is acknowledged or committed. @throws AssertionError after a step failed */
  check(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  private fail(what: string, error: unknown): AssertionError {
    if (this.failure !== undefined) return this.failure; // It was told of by a step within this one.
    const failure = new AssertionError(`cannot go on after what is stored: ${what}: ${bugText(error)}`, { cause: error });
    this.failure = failure;
    this.onBug(failure);
    return failure;
  }
}
