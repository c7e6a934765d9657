/** Certificates for tests, made by the `openssl` program: a root, an intermediate, and leaves. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Made = {
  readonly folder: string;
  pathOf(file: string): string;
  read(file: string): string;
  /** Makes `<name>.pem` and `<name>.key`, signed by the issuer or, without one, by itself. */
  issue(name: string, issuer?: string, isAuthority?: boolean): void;
};

type Cleanup = { after(clean: () => void): void };

export function makeCertificates(t: Cleanup): Made {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-certificates-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const pathOf = (file: string) => join(folder, file);

  return {
    folder,
    pathOf,
    read: (file) => readFileSync(pathOf(file), "utf8"),
    issue(name, issuer, isAuthority = false) {
      const signer =
        issuer === undefined
          ? []
          : ["-CA", pathOf(`${issuer}.pem`), "-CAkey", pathOf(`${issuer}.key`)];
      execFileSync(
        "openssl",
        [
          ...[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
          ],
          ...["-keyout", pathOf(`${name}.key`), "-out", pathOf(`${name}.pem`), "-days", "30"],
          ...["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"],
          ...["-addext", `basicConstraints=critical,CA:${isAuthority ? "TRUE" : "FALSE"}`],
          ...signer,
        ],
        { stdio: "ignore" },
      );
    },
  };
}
