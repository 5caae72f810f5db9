/** Exit code of a bad command line. */
export const EXIT_USAGE = 2;
/** Exit code of a bad configuration value or file. */
const EXIT_CONFIG = 1;

/** A command line or configuration that the server refuses to start with: one line for the user, and the process's exit code. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT_CONFIG, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
