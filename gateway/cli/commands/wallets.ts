/** Merchants' names and keys at wallets. */
import type { Command } from "commander";

export function addWalletCommands(program: Command): void {
  const wallet = program
    .command("wallet")
    .description("how merchants are known to wallets, and the keys for their payment data");
  wallet
    .command("set <login>")
    .description("name a merchant to the wallets")
    .option("--walleta-merchant <id>", "merchant identifier at walleta")
    .option("--walletb-recipient <id>", "whom walletb encrypts for: merchant:<id> or gateway:<id>")
    .option("--walletb-merchant <id>", "the merchant among those of the gateway, unless his login")
    .option("--json", "as JSON")
    .action(async (login, options) => (await import("../wallet.ts")).setWallets(login, options));
  const walletKey = wallet.command("key").description("the keys that wallets encrypt for");
  walletKey
    .command("make <login> <walleta|walletb>")
    .description("make a key; prints what the wallet wants: a certificate request, or a public key")
    .option("--json", "as JSON")
    .action(async (login, name, options) =>
      (await import("../wallet.ts")).makeWalletKey(login, name, options),
    );
  walletKey
    .command("certify <id> <file>")
    .description("hand in the certificate that walleta has issued for a key")
    .action(async (id, file) => (await import("../wallet.ts")).certifyWalletKey(id, file));
  walletKey
    .command("list")
    .description("list all keys, with the end of their certificates")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../wallet.ts")).listWalletKeys(options));
  walletKey
    .command("remove <id>")
    .description("remove a key; what was encrypted for it cannot be opened any more")
    .action(async (id) => (await import("../wallet.ts")).removeWalletKey(id));
}
