#!/usr/bin/env node
/** The command line: one file per command, and this list of them. */
import { Command } from "commander";

const program = new Command("gw")
  .description("Tollgate, a card payment gateway that you run yourself")
  .version("0.1.0");

program
  .command("start")
  .description("everything with one command: database, sandbox bank (staging), gateway")
  .action(async () => (await import("./start.ts")).start());

program
  .command("serve")
  .description("one gateway node: the merchant interface and the work behind it")
  .action(async () => (await import("./serve.ts")).serve());

program
  .command("config")
  .description("print every setting with its value, where that comes from, and what it means")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./config.ts")).printConfig(options));

program
  .command("migrate")
  .description("bring the database's schema up to date")
  .action(async () => (await import("./migrate.ts")).migrateHouse());

program
  .command("doctor")
  .description("look for what is wrong with this installation")
  .action(async () => (await import("./doctor.ts")).examine());

const merchant = program.command("merchant").description("make and show merchants");
merchant
  .command("create <login>")
  .description("make a merchant; in staging with the demonstration's set of endpoints")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./merchant.ts")).createMerchant(login, options));
merchant
  .command("list")
  .description("list all merchants")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./merchant.ts")).listMerchants(options));
merchant
  .command("show <login>")
  .description("show a merchant with its endpoints, groups and control key")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./merchant.ts")).showMerchant(login, options));

merchant
  .command("set <login>")
  .description("change a merchant's settings")
  .option("--commissions <on|off>", "show the merchant what payments cost")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./merchant.ts")).setMerchant(login, options));

const merchantKey = merchant
  .command("key")
  .description("the public keys that a merchant signs with by OAuth");
merchantKey
  .command("add <login> <file.pem>")
  .description("add an RSA public key or certificate; the others stay, so that keys can change")
  .option("--name <text>", "to tell it from the others")
  .option("--json", "as JSON")
  .action(async (login, file, options) =>
    (await import("./merchant-key.ts")).addKey(login, file, options),
  );
merchantKey
  .command("list <login>")
  .description("list the keys that are accepted")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./merchant-key.ts")).listKeys(login, options));
merchantKey
  .command("remove <login> <key>")
  .description("accept a key no more")
  .option("--json", "as JSON")
  .action(async (login, key, options) =>
    (await import("./merchant-key.ts")).removeKey(login, key, options),
  );

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
  .action(async (login, options) => (await import("./wallet.ts")).setWallets(login, options));
const walletKey = wallet.command("key").description("the keys that wallets encrypt for");
walletKey
  .command("make <login> <walleta|walletb>")
  .description("make a key; prints what the wallet wants: a certificate request, or a public key")
  .option("--json", "as JSON")
  .action(async (login, name, options) =>
    (await import("./wallet.ts")).makeWalletKey(login, name, options),
  );
walletKey
  .command("certify <id> <file>")
  .description("hand in the certificate that walleta has issued for a key")
  .action(async (id, file) => (await import("./wallet.ts")).certifyWalletKey(id, file));
walletKey
  .command("list")
  .description("list all keys, with the end of their certificates")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./wallet.ts")).listWalletKeys(options));
walletKey
  .command("remove <id>")
  .description("remove a key; what was encrypted for it cannot be opened any more")
  .action(async (id) => (await import("./wallet.ts")).removeWalletKey(id));

const directory = program
  .command("directory")
  .description("the directory servers of 3-D Secure, and their card ranges");
directory
  .command("list")
  .description("list all directory servers, with how many card ranges they have told")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./directory.ts")).listDirectories(options));
directory
  .command("show <name>")
  .description("show a directory server with its settings")
  .option("--json", "as JSON")
  .action(async (name, options) => (await import("./directory.ts")).showDirectory(name, options));
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
  .action(async (name, options) => (await import("./directory.ts")).putDirectory(name, options));
directory
  .command("refresh <name>")
  .description("have its card ranges asked for now")
  .action(async (name) => (await import("./directory.ts")).refreshDirectory(name));
directory
  .command("remove <name>")
  .description("remove a directory server with its card ranges")
  .action(async (name) => (await import("./directory.ts")).removeDirectory(name));

const gate = program.command("gate").description("the ways to the acquirers");
gate
  .command("list")
  .description("list all gates")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./gate.ts")).listGates(options));
gate
  .command("show <name>")
  .description("show a gate with its settings and the endpoints that use it")
  .option("--json", "as JSON")
  .action(async (name, options) => (await import("./gate.ts")).showGate(name, options));
withGateOptions(gate.command("create <name>"))
  .description("make a gate")
  .action(async (name, options) => (await import("./gate.ts")).createGate(name, options));
withGateOptions(gate.command("set <name>"))
  .description("change a gate: what is not given stays")
  .action(async (name, options) => (await import("./gate.ts")).setGate(name, options));
gate
  .command("remove <name>")
  .description("remove a gate that no endpoint uses")
  .action(async (name) => (await import("./gate.ts")).removeGate(name));

const endpoint = program.command("endpoint").description("make and change endpoints");
endpoint
  .command("list <login>")
  .description("list a merchant's endpoints with their gates")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./endpoint.ts")).listEndpoints(login, options));
withEndpointOptions(endpoint.command("create <login> <name>"))
  .description("make an endpoint of a merchant")
  .requiredOption("--currency <code>", "three-letter currency code")
  .option("--gate <name:rank:weight>", "a gate behind it, may be repeated (sandbox)", collect)
  .action(async (login, name, options) =>
    (await import("./endpoint.ts")).createEndpoint(login, name, options),
  );
withEndpointOptions(endpoint.command("set <endpointid>"))
  .description("change an endpoint: what is not given stays, `none` takes a setting away")
  .option("--enable", "requests are accepted")
  .option("--disable", "requests are refused as if there were no such endpoint")
  .action(async (id, options) => (await import("./endpoint.ts")).setEndpoint(id, options));
endpoint
  .command("gates <endpointid> <name:rank:weight...>")
  .description("set the gates behind an endpoint anew: the lowest rank first, shared by weight")
  .option("--json", "as JSON")
  .action(async (id, gates, options) =>
    (await import("./endpoint.ts")).setEndpointGates(id, gates, options),
  );

program
  .command("group")
  .description("make endpoint groups")
  .command("create <login> <name> <endpoints...>")
  .description("make a group of a merchant's endpoints, one per currency")
  .option("--json", "as JSON")
  .action(async (login, name, endpoints, options) =>
    (await import("./group.ts")).createGroup(login, { name, endpoints }, options),
  );

program
  .command("order")
  .description("look at orders")
  .command("show <orderid>")
  .description("show an order and everything that happened to it")
  .option("--json", "as JSON")
  .action(async (order, options) => (await import("./order.ts")).showOrder(order, options));

const bin = program.command("bin").description("load and look at the BIN table: who issued a card");
bin
  .command("load <file.csv>")
  .description("replace the BIN table; nothing is changed when anything in the file is wrong")
  .option("--json", "as JSON")
  .action(async (file, options) => (await import("./bin.ts")).loadIssuers(file, options));
bin
  .command("find <prefix>")
  .description("what is known of the cards that begin with these 6 to 11 digits")
  .option("--json", "as JSON")
  .action(async (prefix, options) => (await import("./bin.ts")).findIssuer(prefix, options));
bin
  .command("count")
  .description("how many ranges the BIN table has, and when it was loaded")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./bin.ts")).countIssuers(options));

const key = program.command("key").description("the vault's keys, and the key that seals them");
key
  .command("list")
  .description("list the vault's keys, with the cards under each")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./key.ts")).listVaultKeys(options));
key
  .command("rotate")
  .description("seal all cards and secrets with new keys while payments go on, destroy the old")
  .option("--anew", "new keys also when an earlier rotation has left some behind")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./key-rotate.ts")).rotateVaultKeys(options));
key
  .command("rewrap")
  .description("seal the vault's keys with another key-encryption key (GW_NEW_MASTER_KEY_…)")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./key.ts")).rewrap(options));
key
  .command("make [file]")
  .description("make a key-encryption key, or a custodian's part: into a file, or print it")
  .option("--json", "as JSON")
  .action(async (file, options) => (await import("./key.ts")).makeKey(file, options));
key
  .command("split <file1> <file2>")
  .description("make a new key-encryption key in two parts, one for each custodian")
  .option("--json", "as JSON")
  .action(async (first, second, options) =>
    (await import("./key.ts")).splitKey([first, second], options),
  );
key
  .command("check [file]")
  .description("print a check value, of a file's key or of the settings', to compare keys by")
  .option("--json", "as JSON")
  .action(async (file, options) => (await import("./key.ts")).checkKey(file, options));

const card = program.command("card").description("look at registered cards");
card
  .command("show <login> <reference>")
  .description("show what is known of a merchant's registered card")
  .option("--json", "as JSON")
  .action(async (login, id, options) => (await import("./card.ts")).showCard(login, id, options));
card
  .command("remove <login> <reference>")
  .description("take a card's references away: it can no longer be paid with")
  .option("--json", "as JSON")
  .action(async (login, id, options) => (await import("./card.ts")).removeCard(login, id, options));

const doubt = program
  .command("doubt")
  .description("orders that the bank may have done something for or not");
doubt
  .command("list")
  .description("list them, the oldest first")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./doubt.ts")).listDoubt(options));
doubt
  .command("ask <orderid>")
  .description("have the gateway ask the bank again at once")
  .requiredOption("--reason <text>", "why; kept with the order")
  .option("--by <name>", "who; the user of this command unless said")
  .option("--json", "as JSON")
  .action(async (order, options) => (await import("./doubt.ts")).askAgain(order, options));
doubt
  .command("settle <orderid>")
  .description("settle it by what the bank has told you")
  .requiredOption("--as <outcome>", "done (the bank did it) or not-done (it did not)")
  .requiredOption("--reason <text>", "how you know; kept with the order")
  .option("--by <name>", "who; the user of this command unless said")
  .option("--json", "as JSON")
  .action(async (order, options) => (await import("./doubt.ts")).settleByHand(order, options));

const callback = program
  .command("callback")
  .description("what merchants were told of their transactions, and telling it again");
callback
  .command("list")
  .description("list callbacks, the latest first")
  .option("--order <orderid>", "only those of one order")
  .option("--since <moment>", "only of results from then on, like 2030-01-31T09:30:00Z")
  .option("--until <moment>", "only of results up to then")
  .option("--state <state>", "only these: due, delivered, stopped or given_up")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./callback.ts")).listCallbacks(options));
callback
  .command("show <orderid> [sequence]")
  .description("show the callbacks of an order, with every try")
  .option("--json", "as JSON")
  .action(async (order, sequence, options) =>
    (await import("./callback.ts")).showCallback(order, sequence, options),
  );
callback
  .command("resend [orderid] [sequence]")
  .description("send again: one, all of an order, or those of a range of time")
  .option("--since <moment>", "results from then on")
  .option("--until <moment>", "results up to then")
  .option("--state <state>", "only these: due, delivered, stopped or given_up")
  .option("--json", "as JSON")
  .action(async (order, sequence, options) =>
    (await import("./callback.ts")).resendCallback(order, sequence, options),
  );
callback
  .command("listen")
  .description("listen on this machine for callbacks, and print them: for development")
  .option("--port <port>", "where", "9099")
  .option("--answer <status>", "what to answer with", "200")
  .action(async (options) => (await import("./callback-listen.ts")).listenForCallbacks(options));
callback
  .command("secret <endpointid>")
  .description("print the secret that a merchant verifies the signatures of forms with")
  .option("--renew", "make a new one; for a day forms are signed with the old one too")
  .option("--retire", "sign with the old one no more, from now on")
  .option("--json", "as JSON")
  .action(async (id, options) => (await import("./callback-secret.ts")).printSecret(id, options));

await program.parseAsync();

function withGateOptions(command: Command): Command {
  return command
    .option("--kind <kind>", "what the host speaks: sandbox or iso87_binary")
    .option("--host <address:port>", "where the host listens")
    .option("--terminal <id>", "field 41 of every message")
    .option("--merchant-code <code>", "field 42")
    .option("--name-and-place <text>", "field 43")
    .option("--category <digits>", "field 18, the merchant category")
    .option("--country <digits>", "field 19, the acquirer's country")
    .option("--acquirer-id <digits>", "field 32")
    .option("--descriptor <text>", "what the cardholder's statement shows")
    .option("--without-cvv", "the acquirer takes payments without CVV")
    .option("--with-cvv", "it does not (as without either option)")
    .option("--partial-reversal", "it can give back a part (as without either option)")
    .option("--no-partial-reversal", "it cannot")
    .option("--partial-capture", "it can take a part of what is held (as without either option)")
    .option("--no-partial-capture", "it cannot")
    .option("--currencies <codes>", "only these, by commas; all for every currency")
    .option("--min <minor>", "smaller amounts go through another gate; none for no limit")
    .option("--max <minor>", "larger amounts go through another gate; none for no limit")
    .option("--fee <fee>", "what the acquirer keeps, like 2.5%+30; none for no fee")
    .option("--recurrent-initiator <word>", "CARDHOLDER or MERCHANT, unless the payment says it")
    .option("--recurrent-scenario <word>", "REGULAR or IRREGULAR, unless the payment says it")
    .option("--sandbox", "it leads to a sandbox bank: production refuses it")
    .option("--no-sandbox", "it does not")
    .option("--json", "as JSON");
}

function withEndpointOptions(command: Command): Command {
  return command
    .option("--3ds <policy>", "off, when_possible or always")
    .option("--min <amount>", "smaller amounts are filtered")
    .option("--max <amount>", "larger amounts are filtered")
    .option("--descriptor <text>", "what the cardholder's statement shows")
    .option("--optional <fields>", "sale fields not insisted on, by commas")
    .option("--fee <fee>", "what the seller pays, like 2.5%+30")
    .option("--partial-approvals <on|off>", "an approval of less than was asked for stands")
    .option("--callbacks <GET|POST>", "how callbacks are sent")
    .option("--oauth-only <on|off>", "only v4 requests are taken, those signed by OAuth")
    .option("--json", "as JSON");
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
