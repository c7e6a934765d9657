/** Who may send payments, and by which keys. */
import type { Command } from "commander";

export function addMerchantCommands(program: Command): void {
  const merchant = program.command("merchant").description("make and show merchants");
  merchant
    .command("create <login>")
    .description("make a merchant; in staging with the demonstration's set of endpoints")
    .option("--json", "as JSON")
    .action(async (login, options) =>
      (await import("../merchant.ts")).createMerchant(login, options),
    );
  merchant
    .command("list")
    .description("list all merchants")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../merchant.ts")).listMerchants(options));
  merchant
    .command("show <login>")
    .description("show a merchant with its endpoints, groups and control key")
    .option("--json", "as JSON")
    .action(async (login, options) =>
      (await import("../merchant.ts")).showMerchant(login, options),
    );

  merchant
    .command("set <login>")
    .description("change a merchant's settings")
    .option("--commissions <on|off>", "show the merchant what payments cost")
    .option("--json", "as JSON")
    .action(async (login, options) => (await import("../merchant.ts")).setMerchant(login, options));

  const merchantKey = merchant
    .command("key")
    .description("the public keys that a merchant signs with by OAuth");
  merchantKey
    .command("add <login> <file.pem>")
    .description("add an RSA public key or certificate; the others stay, so that keys can change")
    .option("--name <text>", "to tell it from the others")
    .option("--json", "as JSON")
    .action(async (login, file, options) =>
      (await import("../merchant-key.ts")).addKey(login, file, options),
    );
  merchantKey
    .command("list <login>")
    .description("list the keys that are accepted")
    .option("--json", "as JSON")
    .action(async (login, options) =>
      (await import("../merchant-key.ts")).listKeys(login, options),
    );
  merchantKey
    .command("remove <login> <key>")
    .description("accept a key no more")
    .option("--json", "as JSON")
    .action(async (login, key, options) =>
      (await import("../merchant-key.ts")).removeKey(login, key, options),
    );
}
