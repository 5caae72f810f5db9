/** Which calls of a stand-in fail, how often, and what stands still: shared by the faulty stores. */

/** What a failing call does. */
export interface Fault {
  /** The error's text; it should read like the system's, e.g. "ENOSPC: no space left on device". */
  readonly why: string;
  /** Calls that pass first. Default 0. */
  readonly after?: number;
  /** Calls that fail; Infinity until `heal`. Default 1. */
  readonly times?: number;
}

interface Armed {
  readonly why: string;
  after: number;
  times: number;
}

/** Faults by the name of a call. */
export class Faults<Call extends string> {
  /** Calls made so far, by name; those that failed count as well. */
  readonly calls: Map<Call, number> = new Map();
  private readonly armed: Map<Call, Armed> = new Map();
  private gate: PromiseWithResolvers<void> | undefined;

  /** Lets calls of this name fail from now on, as `fault` says. A later call replaces an earlier one. */
  fail(call: Call, fault: Fault): void {
    this.armed.set(call, { why: fault.why, after: fault.after ?? 0, times: fault.times ?? 1 });
  }

  /** From now on nothing fails, or no call of this name. */
  heal(call?: Call): void {
    if (call === undefined) this.armed.clear();
    else this.armed.delete(call);
  }

  /** From now on calls that may wait stand still until `release`: a disk that hangs. */
  hold(): void {
    this.gate ??= Promise.withResolvers<void>();
  }

  release(): void {
    this.gate?.resolve();
    this.gate = undefined;
  }

  /** How often a call was made. */
  count(call: Call): number {
    return this.calls.get(call) ?? 0;
  }

  /** The text of the fault that this call meets, or undefined. */
  next(call: Call): string | undefined {
    this.calls.set(call, this.count(call) + 1);
    const fault = this.armed.get(call);
    if (fault === undefined) return undefined;
    if (fault.after > 0) {
      fault.after--;
      return undefined;
    }
    if (--fault.times <= 0) this.armed.delete(call);
    return fault.why;
  }

  /** Waits while the disk hangs. */
  async pass(): Promise<void> {
    while (this.gate !== undefined) await this.gate.promise;
  }
}
