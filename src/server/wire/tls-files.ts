/**
 * Certificate and key of a server. The files are read again when the operator asks (SIGHUP), and with `watch` when they changed:
 * connections made from then on have the new ones. Files that cannot be used leave the last good ones in force, which a warning tells once.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";

/** How a server encrypts. */
export interface TlsOptions {
  /** "prefer": clients may; "require": they must. */
  readonly mode: "prefer" | "require";
  readonly certPath: string;
  readonly keyPath: string;
  /** Whether the files are read again when they change. */
  readonly watch: boolean;
}

/** How often files are read that are watched, milliseconds. They are a few kilobytes. */
const POLL_MS = 2000;

/** See the file header. */
export class TlsFiles {
  readonly isRequired: boolean;
  private readonly options: TlsOptions;
  private readonly logger: Logger;
  private readonly poll: ReturnType<typeof setInterval> | undefined;
  private text: string;
  private secureContext: SecureContext;
  private problem: string | undefined;

  /** @param pollMs how often files are read that are watched @throws DbError InvalidArguments for files that cannot be used */
  constructor(options: TlsOptions, logger: Logger, pollMs: number = POLL_MS) {
    this.options = options;
    this.logger = logger;
    this.isRequired = options.mode === "require";
    try {
      const { cert, key } = this.read();
      this.text = cert + key;
      this.secureContext = createSecureContext({ cert, key });
    } catch (cause) {
      const what = `certificate ${options.certPath} and key ${options.keyPath}`;
      throw new DbError(StatusCode.InvalidArguments, `cannot use TLS with ${what}: ${errorText(cause)}`, { cause });
    }
    if (!options.watch) return;
    this.poll = setInterval(() => this.look(false), pollMs);
    this.poll.unref();
  }

  /** What new connections encrypt with. */
  get context(): SecureContext {
    return this.secureContext;
  }

  /** Reads the files, and says what it finds whatever it said before. @returns whether what they hold is in force */
  reload(): boolean {
    this.problem = undefined;
    return this.look(true);
  }

  close(): void {
    clearInterval(this.poll);
  }

  private read(): { readonly cert: string; readonly key: string } {
    return { cert: readFileSync(this.options.certPath, "utf8"), key: readFileSync(this.options.keyPath, "utf8") };
  }

  /** @param isAsked the operator waits for a word */
  private look(isAsked: boolean): boolean {
    try {
      const { cert, key } = this.read();
      if (cert + key === this.text) {
        this.problem = undefined;
        if (isAsked) this.logger.info(factsOf(this.options, cert), "the certificate is as it was");
        return true;
      }
      const facts = factsOf(this.options, cert);
      this.secureContext = createSecureContext({ cert, key });
      this.text = cert + key;
      this.problem = undefined;
      this.logger.info(facts, "new connections have the new certificate");
      return true;
    } catch (thrown) {
      const problem = errorText(thrown);
      if (problem === this.problem) return false;
      this.problem = problem;
      this.logger.warn({ certificate: this.options.certPath, error: problem }, "cannot use the new certificate: the last one stays");
      return false;
    }
  }
}

/** What the log may say of a certificate. */
function factsOf({ certPath }: TlsOptions, cert: string): Readonly<Record<string, string>> {
  const { validTo, fingerprint256 } = new X509Certificate(cert);
  return { certificate: certPath, validTo, fingerprint256 };
}
