/** Merchants: create, list, show, set, enable and disable them, and send them a report each day. */
import { makeAddressChecks } from "../../callbacks/addresses.ts";
import { findReportFault } from "../../callbacks/daily-reports.ts";
import type { MerchantSettings } from "../../orders/merchant.ts";
import { findDailyReports } from "../../storage/callbacks/daily-reports.ts";
import { mainCell } from "../../storage/cells/cells.ts";
import { findControlKeyUse } from "../../storage/configuration/configuration.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { flag, type Help, option, required, toggle, word } from "../field.ts";
import { endpointsOf, findGate, findMerchant, login, onMerchant, ownerByLogin } from "../find.ts";
import { printSwitch } from "../readers.ts";
import { openVault, Report, readConfiguration } from "../session.ts";
import {
  fieldsOf,
  findNothing,
  form,
  givenOf,
  onOff,
  optional,
  readSettings,
  type SettingRow,
  setting,
  whole,
} from "../settings.ts";
import { merchantKeyActions } from "./merchant-keys.ts";
import {
  createMerchantSet,
  demonstrationShop,
  findSandboxGates,
  type MerchantSet,
  merchantSetOf,
} from "./merchant-set.ts";
import { shopNameSetting } from "./page-settings.ts";

const loginForm = /^[A-Za-z0-9._-]{1,20}$/;

const webAddress = optional(
  form<string>("url", "url|none", (given, name) => {
    const isAddress = /^https?:$/.test(URL.parse(given)?.protocol ?? "");
    return isAddress ? given : new Problem(`${name} is no http(s) address.`);
  }),
);
const keepDays = (min: number) => optional(whole("days|none", min));

export const merchantTable: readonly SettingRow<MerchantSettings>[] = [
  setting<MerchantSettings, "commissions">("commissions", "commissions", onOff, [
    "show fees to the merchant",
    "dem Händler Gebühren zeigen",
  ]),
  setting("balance", "balance", onOff, [
    "answer the merchant's requests for its balance",
    "Anfragen des Händlers nach seinem Saldo beantworten",
  ]),
  setting("cardKeepDays", "cardKeepDays", keepDays(31), [
    "how long card numbers of paid orders are stored, from 31",
    "wie lange Kartennummern bezahlter Zahlungen gespeichert werden, ab 31",
  ]),
  setting("unpaidCardKeepDays", "unpaidCardKeepDays", keepDays(1), [
    "the same for orders that were not paid, from 1",
    "ebenso bei unbezahlten Zahlungen, ab 1",
  ]),
  setting("decryptedWallets", "decryptedWallets", onOff, [
    "accept wallets' payment data that the merchant has decrypted",
    "Wallet-Daten annehmen, die der Händler selbst entschlüsselt hat",
  ]),
  setting("rsaOnly", "rsaOnly", onOff, [
    "refuse OAuth signatures made with the control key (HMAC-SHA1)",
    "OAuth-Signaturen mit dem Kontrollschlüssel (HMAC-SHA1) ablehnen",
  ]),
  setting("reportUrl", "reportUrl", webAddress, [
    "send the transaction report of each day there",
    "den Transaktionsbericht jedes Tages dorthin senden",
  ]),
];

export const merchantActions: readonly Action[] = [
  action("change", "change_merchants", {
    name: "merchant create",
    does: [
      "create a merchant, with a set of endpoints through one gate; prints its control key",
      "einen Händler mit Endpunkten über ein Gate anlegen; zeigt seinen Kontrollschlüssel",
    ],
    inFile: "exported",
    fields: {
      login: word("text", "login", ["its login", "sein Login"]),
      cell: option("text", "name", [
        "where its orders will be; the main cell if not given",
        "wo seine Zahlungen liegen; sonst in der Hauptzelle",
      ]),
      gate: option("gate", "name", [
        "the gate of its first endpoints; in staging the sandbox's",
        "das Gate seiner ersten Endpunkte; im Testbetrieb das der Sandbox",
      ]),
      ...fieldsOf([shopNameSetting]),
      endpoints: toggle(
        {
          no: "no-endpoints",
        },
        ["create the merchant alone", "nur den Händler anlegen"],
      ),
      screening: toggle({ no: "no-screening" }, [
        "in production, without the rules against card testing",
        "in Produktion ohne die Regeln gegen Kartentests",
      ]),
    },
    async perform(session, given) {
      const { login: name, cell = mainCell, gate, endpoints = true, screening = true } = given;
      if (!session.cells.names().includes(cell)) return new Problem(`There is no cell ${cell}.`);
      const fault = findLoginFault(name);
      if (fault !== undefined) return fault;
      const configuration = await readConfiguration(session);
      if (!(findMerchant(configuration, name) instanceof Problem)) {
        return new Problem(`There is a merchant ${name} already: choose another login.`);
      }
      const isStaging = session.config.environment === "staging";
      const usualName = isStaging ? demonstrationShop : "none";
      const shop = readSettings([shopNameSetting], { shopName: usualName, ...given }, {});
      if (shop instanceof Problem) return shop;
      const named = gate === undefined ? undefined : findGate(configuration, gate);
      if (named instanceof Problem) return named;
      const gates = named ? { sandbox: named.id } : await findSandboxGates(session.database);
      const chosen = endpoints && gates ? { gates, currencies: named?.settings.currencies } : {};
      const vault = await openVault(session);
      const made = { login: name, cell, ...chosen, ...shop, isScreened: screening && !isStaging };
      const set = await createMerchantSet(session.audit, vault, made);
      return new Report(set, describe(set, { "control key": set.controlKey }));
    },
  }),
  action("look", "see_configuration", {
    name: "merchant list",
    does: ["list all merchants"],
    commandLineOnly: "the portal lists merchants on a screen of its own",
    async perform(session) {
      const configuration = await readConfiguration(session);
      return configuration.merchants.map(({ id, login: own, name, enabled }) => {
        const endpoints = endpointsOf({ id }, configuration).length;
        return { login: own, name, id, endpoints, state: printSwitch(enabled) };
      });
    },
  }),
  action("look", "see_configuration", {
    name: "merchant show",
    does: [
      "show a merchant with its endpoints and groups",
      "einen Händler mit Endpunkten und Gruppen zeigen",
    ],
    findOwner: ownerByLogin,
    fields: {
      login,
      reveal: {
        ...flag([
          "with the control keys in plain text; the audit records it",
          "mit den Kontrollschlüsseln im Klartext; das Protokoll vermerkt es",
        ]),
        right: "reveal_secrets",
      },
    },
    perform: onMerchant(async (merchant, { audit, configuration, database }, { reveal }) => {
      const { id, login: name, cell, enabled, settings, oldControlKey } = merchant;
      const { set: setAt, oldUsed } = await findControlKeyUse(database.query, id);
      const shown = {
        state: printSwitch(enabled),
        cell,
        controlKeySet: setAt ?? "when it was created",
        ...(oldControlKey && { oldControlKeyLastUsed: oldUsed ?? "never" }),
      };
      if (reveal) {
        const entry = { action: "merchant show", subject: `merchant ${name}`, after: { reveal } };
        await audit.write(entry);
      }
      const { controlKey, ...set } = merchantSetOf(configuration, merchant);
      const old = oldControlKey?.reveal();
      const clear = reveal ? { controlKey, ...(old && { oldControlKey: old }) } : {};
      const value = { ...set, ...shown, settings, ...clear };
      return new Report(value, describe(set, { ...shown, ...clear }));
    }),
  }),
  action("change", "change_merchants", {
    name: "merchant set",
    does: ["change a merchant's settings", "die Einstellungen eines Händlers ändern"],
    inFile: "exported",
    fields: { login, ...fieldsOf(merchantTable) },
    perform: onMerchant(async (merchant, session, given) => {
      const changes = givenOf(merchantTable, given);
      const nothing = findNothing(merchantTable, given);
      const settings = nothing ?? readSettings(merchantTable, given, merchant.settings);
      if (settings instanceof Problem) return settings;
      await session.administration.setMerchant(merchant.id, settings);
      return { login: merchant.login, ...changes };
    }),
  }),
  action("change", "manage_keys", {
    name: "merchant report set",
    does: [
      "send a merchant the transaction report of each day, or no longer",
      "einem Händler den Transaktionsbericht jedes Tages senden oder nicht mehr",
    ],
    inFile: "otherwise",
    findOwner: ownerByLogin,
    fields: {
      login,
      reportUrl: required("url", "url|none", [
        "its address; none sends no report",
        "seine Adresse; none sendet keinen Bericht",
      ]),
    },
    perform: onMerchant(async (merchant, session, { reportUrl }) => {
      const { config, configuration, administration } = session;
      const settings = readSettings(merchantTable, { reportUrl }, merchant.settings);
      if (settings instanceof Problem) return settings;
      const { reportUrl: url } = settings;
      const endpoints = endpointsOf(merchant, configuration);
      const fault = url && findReportFault(url, endpoints, makeAddressChecks(config));
      if (fault) return new Problem(`The address cannot be used: ${fault}.`).about("reportUrl");
      await administration.setMerchant(merchant.id, settings, "merchant report set");
      return { login: merchant.login, reportUrl };
    }),
  }),
  action("look", "see_orders", {
    name: "merchant report list",
    does: [
      "list the latest days whose report is sent to a merchant",
      "die letzten Tage zeigen, deren Bericht ein Händler erhält",
    ],
    findOwner: ownerByLogin,
    fields: { login },
    perform: onMerchant(async ({ id }, { database, printDate }) => {
      const found = await findDailyReports(database.query, id);
      const rows = found.map(({ at, ...row }) => ({
        ...row,
        at: at === null ? "" : printDate(at),
      }));
      return rows.length > 0 ? rows : new Report(rows, "No report was due yet.");
    }),
  }),
  enablingAction("merchant disable", false, [
    "refuse all requests of a merchant but those for the status",
    "alle Anfragen eines Händlers außer denen nach dem Status ablehnen",
  ]),
  enablingAction("merchant enable", true, [
    "serve a merchant again",
    "einen Händler wieder bedienen",
  ]),
  ...merchantKeyActions,
];

export function findLoginFault(name: string): Problem | undefined {
  if (loginForm.test(name)) return undefined;
  return new Problem("A login is 1 to 20 letters, digits, dots, dashes or underscores.");
}

function enablingAction(name: string, enabled: boolean, does: Help): Action {
  return action("change", "change_merchants", {
    name,
    does,
    inFile: "exported",
    fields: { login },
    perform: onMerchant(async (merchant, { administration }) => {
      await administration.enableMerchant(merchant.id, enabled);
      return { login: merchant.login, state: printSwitch(enabled) };
    }),
  });
}

function describe(set: Omit<MerchantSet, "controlKey">, more: object) {
  const named = Object.entries(set.endpoints).map(([name, id]) => [`endpoint ${name}`, id]);
  return { login: set.login, ...more, ...Object.fromEntries(named), group: set.group || "none" };
}
