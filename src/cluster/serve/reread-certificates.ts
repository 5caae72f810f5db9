/**
 * Certificates between the parts of a cluster: read again when the operator asks (SIGHUP), and with `cluster.tls.watch` when the files
 * changed. Connections made from then on have the new ones, those to others as well as those of others. Files that cannot be used, or do
 * not belong together, leave the last good ones in force, which a warning tells once.
 */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { RereadFiles } from "../../base/process/reread-files.ts";
import { StatusCode } from "../../base/status-code.ts";

/** Certificates as PEM, each where there is one. */
export interface InternalPems {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** What they are read by. */
export interface CertificateParts {
  /** As they were read at the start. */
  readonly pems: InternalPems;
  /** Reads the files. @throws Error that says which cannot be read */
  readonly read: () => InternalPems;
  readonly watch: boolean;
  readonly logger: Logger;
  /** Called with why when nobody listens any more. */
  readonly onOver: (why: string) => void;
  /** Default: 2 s. */
  readonly pollMillis?: number;
}

/** Takes other certificates. @throws DbError InvalidArguments: the last ones stay; StorageUnavailable: it has ended */
type Renew = (pems: InternalPems) => void;

/** See the file header. */
export class RereadCertificates {
  private readonly parts: CertificateParts;
  private readonly users: Renew[] = [];
  private readonly files: RereadFiles<InternalPems>;

  constructor(parts: CertificateParts) {
    const { pems, read, watch, pollMillis, logger } = parts;
    this.parts = parts;
    this.files = new RereadFiles({
      first: pems,
      read,
      isSame,
      factsOf,
      use: (found) => this.taken(found),
      lines: {
        same: "the cluster's certificate is as it was",
        used: "new connections within the cluster have the new certificate",
        refused: "cannot use the cluster's new certificate: the last one stays",
      },
      watch,
      pollMillis,
      logger,
    });
  }

  /** Who is to have new ones, from now on. */
  use(renew: Renew): void {
    this.users.push(renew);
  }

  /** As `RereadFiles.reload`. */
  reload(): boolean {
    return this.files.reload();
  }

  close(): void {
    this.files.close();
  }

  private taken(pems: InternalPems): Readonly<Record<string, string>> {
    createSecureContext(pems);
    const facts = factsOf(pems);
    try {
      for (const renew of this.users) renew(pems);
    } catch (thrown) {
      if (thrown instanceof DbError && thrown.code === StatusCode.StorageUnavailable) this.parts.onOver(thrown.message);
      throw thrown;
    }
    return facts;
  }
}

function isSame(one: InternalPems, other: InternalPems): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

/** What the log may say of a certificate; of a part that has none, of whose it takes. @throws for what is none */
function factsOf({ cert, ca }: InternalPems): Readonly<Record<string, string>> {
  const pem = cert ?? ca;
  if (pem === undefined) return {};
  const { validTo, fingerprint256, subject } = new X509Certificate(pem);
  return { subject, validTo, fingerprint256 };
}
