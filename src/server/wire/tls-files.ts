/**
 * Certificate and key of a server. The files are read again when the operator asks (SIGHUP), and with `watch` when they changed:
 * connections made from then on have the new ones. Files that cannot be used leave the last good ones in force, which a warning tells once.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { RereadFiles } from "../../base/process/reread-files.ts";
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

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** See the file header. */
export class TlsFiles {
  readonly isRequired: boolean;
  private readonly options: TlsOptions;
  private readonly files: RereadFiles<Pair>;
  private secureContext: SecureContext;

  /** @throws DbError InvalidArguments for files that cannot be used */
  constructor(options: TlsOptions, logger: Logger) {
    this.options = options;
    this.isRequired = options.mode === "require";
    let first: Pair;
    try {
      first = this.read();
      this.secureContext = createSecureContext(first);
    } catch (cause) {
      const what = `certificate ${options.certPath} and key ${options.keyPath}`;
      throw new DbError(StatusCode.InvalidArguments, `cannot use TLS with ${what}: ${errorText(cause)}`, { cause });
    }
    this.files = new RereadFiles({
      first,
      read: () => this.read(),
      isSame: (one, other) => one.cert === other.cert && one.key === other.key,
      factsOf: ({ cert }) => factsOf(options, cert),
      use: (pair) => {
        const facts = factsOf(options, pair.cert);
        this.secureContext = createSecureContext(pair);
        return facts;
      },
      lines: {
        same: "the certificate is as it was",
        used: "new connections have the new certificate",
        refused: "cannot use the new certificate: the last one stays",
      },
      about: { certificate: options.certPath },
      watch: options.watch,
      logger,
    });
  }

  /** What new connections encrypt with. */
  get context(): SecureContext {
    return this.secureContext;
  }

  /** As `RereadFiles.reload`. */
  reload(): boolean {
    return this.files.reload();
  }

  close(): void {
    this.files.close();
  }

  private read(): Pair {
    return { cert: readFileSync(this.options.certPath, "utf8"), key: readFileSync(this.options.keyPath, "utf8") };
  }
}

/** What the log may say of a certificate. */
function factsOf({ certPath }: TlsOptions, cert: string): Readonly<Record<string, string>> {
  const { validTo, fingerprint256 } = new X509Certificate(cert);
  return { certificate: certPath, validTo, fingerprint256 };
}
