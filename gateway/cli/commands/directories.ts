/** Directory servers of 3-D Secure. */
import type { Command } from "commander";

export function addDirectoryCommands(program: Command): void {
  const directory = program
    .command("directory")
    .description("the directory servers of 3-D Secure, and their card ranges");
  directory
    .command("list")
    .description("list all directory servers, with how many card ranges they have told")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../directory.ts")).listDirectories(options));
  directory
    .command("show <name>")
    .description("show a directory server with its settings")
    .option("--json", "as JSON")
    .action(async (name, options) =>
      (await import("../directory.ts")).showDirectory(name, options),
    );
  directory
    .command("put <name>")
    .description("make a directory server, or change what is given of one")
    .option("--networks <names>", "card networks that it answers for, by commas, or `all`")
    .option("--url <url>", "where it takes messages of EMV 3-D Secure, or `none`")
    .option("--url102 <url>", "where it takes messages of 3-D Secure 1.0.2, or `none`")
    .option("--certificate <file>", "what we show it, in PEM")
    .option("--key <file>", "the private key of that certificate")
    .option("--authority <file>", "what its own certificates are issued by, in PEM")
    .option("--results-name <name>", "common name of the certificate that it posts results with")
    .option("--pares-roots <file>", "roots under which issuers sign answers of 1.0.2, or `none`")
    .option("--reference-number <text>", "our 3DS Server reference number")
    .option("--operator-id <text>", "our 3DS Server operator id")
    .option("--requestor-id <text>", "the 3DS Requestor's id")
    .option("--requestor-name <text>", "the 3DS Requestor's name")
    .option("--requestor-url <url>", "the 3DS Requestor's web site")
    .option("--sandbox", "it belongs to a sandbox bank; production refuses it")
    .option("--json", "as JSON")
    .action(async (name, options) => (await import("../directory.ts")).putDirectory(name, options));
  directory
    .command("refresh <name>")
    .description("have its card ranges asked for now")
    .action(async (name) => (await import("../directory.ts")).refreshDirectory(name));
  directory
    .command("remove <name>")
    .description("remove a directory server with its card ranges")
    .action(async (name) => (await import("../directory.ts")).removeDirectory(name));
}
