/** The BIN table, and registered cards. */
import type { Command } from "commander";

export function addCardCommands(program: Command): void {
  const bin = program
    .command("bin")
    .description("load and look at the BIN table: who issued a card");
  bin
    .command("load <file.csv>")
    .description("replace the BIN table; nothing is changed when anything in the file is wrong")
    .option("--json", "as JSON")
    .action(async (file, options) => (await import("../bin.ts")).loadIssuers(file, options));
  bin
    .command("find <prefix>")
    .description("what is known of the cards that begin with these 6 to 11 digits")
    .option("--json", "as JSON")
    .action(async (prefix, options) => (await import("../bin.ts")).findIssuer(prefix, options));
  bin
    .command("count")
    .description("how many ranges the BIN table has, and when it was loaded")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../bin.ts")).countIssuers(options));

  const card = program.command("card").description("look at registered cards");
  card
    .command("show <login> <reference>")
    .description("show what is known of a merchant's registered card")
    .option("--json", "as JSON")
    .action(async (login, id, options) =>
      (await import("../card.ts")).showCard(login, id, options),
    );
  card
    .command("remove <login> <reference>")
    .description("take a card's references away: it can no longer be paid with")
    .option("--json", "as JSON")
    .action(async (login, id, options) =>
      (await import("../card.ts")).removeCard(login, id, options),
    );
}
